"""Rotation: everything is sealed to the new version and opens all along, wherever the rotation dies."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.credential import SealedCredential
from ferryman.domain.credentials.former import add_former
from ferryman.inmemory.clock import START
from ferryman.inmemory.credentials import MCP_SERVERS, MemoryCredentials
from ferryman.ports.errors import UnavailableError
from ferryman.tools.known_secrets import open_known_tokens
from ferryman.vault import rotate, seal, sign
from tests.builders import build_label
from tests.canaries import canary
from tests.operations.rotation.deps import VALUES, Killed, Stage

OTHER = canary.create_key("rotation D")


def versions(stage: Stage) -> set[int]:
    return {sealed.key_version for stored in stage.memory.credentials.values() for sealed in stored.values()}


async def test_every_credential_is_sealed_to_the_new_version_and_opens():
    stage = Stage()
    done = await rotate.rotate(stage.deps())
    assert (done.version, done.retired, done.unreadable) == (2, (1,), ())
    assert versions(stage) == {2}
    assert await stage.opens() == VALUES
    assert stage.publication.public.startswith("2:")


async def test_the_credentials_of_an_mcp_server_are_sealed_to_the_new_version():
    stage = Stage()
    stage.memory.mcp_servers["mcp_1"] = {}
    public = seal.PublicKey.parse(stage.publication.public)
    label = build_label(task="mcp_1", name="A", version=1, hosts=("h.test",))
    ciphertext = public.seal(OTHER.encode(), seal.build_credential_info(label))
    sealed = SealedCredential(label=label, ciphertext=ciphertext, key_version=1, created_at=START, updated_at=START)
    servers = MemoryCredentials(stage.memory, MCP_SERVERS)
    await servers.put(sealed)
    done = await rotate.rotate(stage.deps())
    (after,) = await servers.list("mcp_1")
    assert (done.unreadable, after.key_version) == ((), 2)
    assert (await stage.vault.open_credential(after)).secret.reveal() == OTHER


async def test_the_old_version_is_disabled_and_kept():
    stage = Stage()
    await rotate.rotate(stage.deps())
    assert stage.key_store.disabled == {1}
    assert set(stage.key_store.privates) == {1, 2}


async def test_nothing_else_about_a_credential_changes():
    stage = Stage()
    before = {task: dict(stored) for task, stored in stage.memory.credentials.items()}
    await rotate.rotate(stage.deps())
    for task, stored in stage.memory.credentials.items():
        for name, after in stored.items():
            assert replace(after, ciphertext=b"", key_version=0) == replace(before[task][name], ciphertext=b"", key_version=0)
            assert after.ciphertext != before[task][name].ciphertext
    assert stage.memory.versions == {"t1": {"A": 1, "B": 1}, "t2": {"A": 1}}


async def test_a_call_under_way_keeps_the_old_version_readable_until_it_is_over():
    stage = Stage(ends_call=5)
    readable = []
    stage.on_pause = lambda: readable.append(1 not in stage.key_store.disabled)
    await rotate.rotate(stage.deps())
    assert readable == [True] * 5
    assert stage.key_store.disabled == {1}


async def test_wherever_it_is_killed_everything_opens_and_the_next_one_ends_it():
    whole = Stage()
    await rotate.rotate(whole.deps())
    assert len(whole.port_calls) >= 30
    for point in range(1, len(whole.port_calls) + 1):
        stage = Stage(kill_at=point)
        with pytest.raises(Killed):
            await rotate.rotate(stage.deps())
        midway = await stage.opens()
        stage.kill_at = -1
        done = await rotate.rotate(stage.deps())
        where = f"point {point}, {whole.port_calls[point - 1]}"
        newest = max(stage.key_store.privates)
        assert await stage.opens() == VALUES == midway, where
        assert versions(stage) == {done.version} == {newest}, where
        assert stage.key_store.disabled == set(stage.key_store.privates) - {newest}, where
        assert stage.publication.public == seal.format_public_key(
            newest, seal.derive_public_key(stage.key_store.privates[newest])
        ), where


async def test_a_rotation_that_was_broken_off_adds_no_third_version():
    whole = Stage()
    await rotate.rotate(whole.deps())
    stage = Stage(kill_at=whole.port_calls.index("after add") + 1)
    with pytest.raises(Killed):
        await rotate.rotate(stage.deps())
    assert set(stage.key_store.privates) == {1, 2}
    stage.kill_at = -1
    await rotate.rotate(stage.deps())
    assert set(stage.key_store.privates) == {1, 2}


async def test_a_credential_that_slips_in_while_the_key_turns_brings_the_old_version_back():
    stage = Stage()
    old = stage.publication.public
    deps = stage.deps()
    inner = stage.key_store.disable

    async def disable(version: int) -> None:
        await inner(version)
        if stage.memory.versions["t2"]["A"] == 1:
            stage.store("t2", "A", VALUES["t2", "A"], public=old)  # by an instance that had not heard yet

    deps.key_store.disable = disable  # type: ignore[method-assign]  # between the look and the turn
    await rotate.rotate(deps)
    assert versions(stage) == {2}
    assert await stage.opens() == VALUES
    assert stage.key_store.disabled == {1}
    assert any("enabled again" in message for message in stage.messages)


async def test_executions_that_began_before_are_waited_for_as_long_as_an_old_instance_may_live():
    stage = Stage(ends_call=1)
    stage.publication.drains = timedelta(seconds=30)
    stage.memory.executions["e"] = replace(stage.memory.executions["e"], started_at=START - timedelta(seconds=1))
    await rotate.rotate(stage.deps())
    assert stage.clock.now() == START + timedelta(seconds=30)


async def test_a_credential_that_opens_with_no_key_is_told_and_holds_nothing_up():
    stage = Stage()
    damaged = stage.memory.credentials["t2"]["A"]
    stage.memory.credentials["t2"]["A"] = replace(
        damaged, ciphertext=damaged.ciphertext[:-1] + bytes([damaged.ciphertext[-1] ^ 1])
    )
    done = await rotate.rotate(stage.deps())
    assert done.unreadable == (("t2", "A"),)
    assert stage.key_store.disabled == {1}


async def test_a_credential_that_was_moved_to_another_task_is_not_resealed():
    stage = Stage()
    stage.memory.credentials["t2"]["B"] = stage.memory.credentials["t1"]["B"]
    done = await rotate.rotate(stage.deps())
    assert done.unreadable == (("t2", "B"),)
    assert stage.memory.credentials["t1"]["B"].key_version == 2
    assert stage.memory.credentials["t2"]["B"].key_version == 1


async def test_a_backup_of_before_is_resealed_by_the_next_rotation():
    stage = Stage()
    before = {task: dict(stored) for task, stored in stage.memory.credentials.items()}
    await rotate.rotate(stage.deps())
    stage.memory.credentials.update(before)
    with pytest.raises(UnavailableError):
        await stage.opens()
    await rotate.rotate(stage.deps())
    assert versions(stage) == {3}
    assert await stage.opens() == VALUES
    assert stage.key_store.disabled == {1, 2}


async def test_a_credential_is_never_sealed_back_to_an_older_version():
    stage = Stage()
    await rotate.rotate(stage.deps())
    sealed = stage.memory.credentials["t1"]["A"]
    assert await stage.vault.reseal(sealed, version=1) is sealed


async def test_what_is_resealed_is_still_bound_to_where_it_belongs():
    stage = Stage()
    await rotate.rotate(stage.deps())
    sealed = stage.memory.credentials["t1"]["A"]
    with pytest.raises(CallRefusedError):
        await stage.vault.open_credential(replace(sealed, label=replace(sealed.label, hosts=("evil.test",))))


async def test_a_deployment_without_a_key_says_so():
    stage = Stage()
    stage.key_store.privates.clear()
    with pytest.raises(rotate.NothingToRotateError):
        await rotate.rotate(stage.deps())


async def test_the_receipt_key_gets_a_version_that_is_served_beside_the_old_ones():
    stage = Stage()
    assert await rotate.rotate_receipts(stage.deps(stage.receipts)) == 2
    assert stage.publication.receipt_keys == {
        number: sign.derive_public_key(private).hex() for number, private in stage.receipts.privates.items()
    }
    assert stage.receipts.disabled == set()


async def test_wherever_the_rotation_of_the_receipt_key_is_killed_the_next_one_ends_it_with_two_versions():
    whole = Stage()
    await rotate.rotate_receipts(whole.deps(whole.receipts))
    after_publication = whole.port_calls.index("after publish_receipt_keys") + 1
    for point in range(1, after_publication):
        stage = Stage(kill_at=point)
        with pytest.raises(Killed):
            await rotate.rotate_receipts(stage.deps(stage.receipts))
        stage.kill_at = -1
        assert await rotate.rotate_receipts(stage.deps(stage.receipts)) == 2
        assert set(stage.publication.receipt_keys) == {1, 2}


async def test_a_version_that_is_not_served_any_more_from_the_store_stays_served():
    stage = Stage()
    stage.receipts.disabled.add(1)
    stage.receipts.privates[2] = sign.generate_private_key()
    await rotate.rotate_receipts(stage.deps(stage.receipts))
    assert 1 in stage.publication.receipt_keys


async def test_of_the_key_for_decisions_the_newest_version_and_the_one_before_are_valid():
    stage = Stage()
    assert await rotate.rotate_decisions(stage.deps(stage.decisions)) == 2
    assert (set(stage.publication.decision_keys), stage.decisions.disabled) == ({1, 2}, set())
    assert await rotate.rotate_decisions(stage.deps(stage.decisions)) == 3
    assert (set(stage.publication.decision_keys), stage.decisions.disabled) == ({2, 3}, {1})


async def test_wherever_the_rotation_of_the_key_for_decisions_is_killed_the_next_one_ends_it_with_two_versions():
    whole = Stage()
    await rotate.rotate_decisions(whole.deps(whole.decisions))
    for point in range(1, whole.port_calls.index("after publish_decision_keys") + 1):
        stage = Stage(kill_at=point)
        with pytest.raises(Killed):
            await rotate.rotate_decisions(stage.deps(stage.decisions))
        stage.kill_at = -1
        assert await rotate.rotate_decisions(stage.deps(stage.decisions)) == 2
        assert set(stage.publication.decision_keys) == {1, 2}


async def test_of_the_key_of_the_platform_the_newest_version_and_the_one_before_stay_enabled():
    stage = Stage()
    deps = stage.deps(stage.requests)
    assert [await rotate.rotate_requests(deps) for _ in range(2)] == [2, 3]
    assert stage.requests.disabled == {1}
    assert len({len(key) for key in stage.requests.privates.values()}) == 1


async def test_a_key_of_the_platform_that_is_not_there_is_not_rotated():
    stage = Stage()
    stage.requests.disabled.add(1)
    with pytest.raises(rotate.NothingToRotateError, match="no key of the platform yet"):
        await rotate.rotate_requests(stage.deps(stage.requests))


def with_former(stage: Stage) -> Stage:
    """Return `stage` after t1's credential A was stored over."""
    credentials = stage.memory.credentials["t1"]
    stage.memory.former["t1"] = {"A": add_former(None, credentials["A"], now=stage.clock.now())}
    stage.store("t1", "A", OTHER)
    return stage


async def test_former_values_are_sealed_to_the_new_version_and_open():
    stage = with_former(Stage())
    done = await rotate.rotate(stage.deps())
    former = stage.memory.former["t1"]["A"]
    assert (former.key_version, done.retired, stage.key_store.disabled) == (2, (1,), {1})
    assert (await stage.vault.open_credential(former.values[0].sealed)).secret.reveal() == VALUES["t1", "A"]


async def test_former_values_that_do_not_open_or_whose_time_is_over_keep_no_version_readable():
    for spoil in (True, False):
        stage = with_former(Stage())
        former = stage.memory.former["t1"]["A"]
        value = former.values[0]
        spoilt = replace(value, sealed=replace(value.sealed, ciphertext=value.sealed.ciphertext[:-1] + b"!"))
        ended = replace(value, until=stage.clock.now())
        stage.memory.former["t1"]["A"] = replace(former, values=(spoilt if spoil else ended,))
        done = await rotate.rotate(stage.deps())
        assert (done.retired, done.unreadable, stage.memory.former["t1"]) == ((1,), (), {})


async def test_fetched_tokens_are_sealed_to_the_new_version_and_still_known():
    stage = Stage()
    stage.store_token("t1", "one", OTHER, OTHER[::-1])
    stage.store_token("", "two", OTHER.swapcase())
    await rotate.rotate(stage.deps())
    assert stage.key_store.disabled == {1}
    known = await open_known_tokens(stage.tools.tokens, stage.vault, owner="o", task="t1")
    assert [token.secret.reveal() for token in known.values()] == [OTHER, OTHER[::-1], OTHER.swapcase()]


async def test_a_fetched_token_that_does_not_open_keeps_no_version_readable():
    stage = Stage()
    stage.store_token("t1", "one", OTHER, OTHER[::-1])
    stage.memory.tokens["one"] = replace(stage.memory.tokens["one"], owner="another")
    done = await rotate.rotate(stage.deps())
    assert (stage.key_store.disabled, done.unreadable) == ({1}, ())
    assert stage.memory.tokens["one"].tokens == ()


async def test_a_token_that_is_fetched_while_others_are_sealed_again_stays():
    stage = Stage()
    stage.store_token("t1", "one", OTHER)
    before = stage.memory.tokens["one"]
    stage.store_token("t1", "one", OTHER[::-1])
    fetched = stage.memory.tokens["one"]
    await stage.tools.tokens.reseal("one", before, replace(before, token=None))
    assert stage.memory.tokens["one"] is fetched
