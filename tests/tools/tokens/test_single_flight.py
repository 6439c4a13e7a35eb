"""One fetch for all that need it: tools, calls, instances; and another when the instance that fetches dies."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any

import pytest

from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.http.request import InboundResponse
from ferryman.domain.tools.declared import Exchange, Extract, TokenExchange
from ferryman.tools.tokens.access import obtain_access
from ferryman.tools.tokens.cache import FETCH_LEASE
from ferryman.tools.tokens.single_flight import SingleFlight
from tests.plain_gate import build_response

from .harness import OUTBOUND, POLICY, Api, Harness, call, credential, need, token


async def fetched(deps, what=None, **changes: Any) -> str:
    access = await obtain_access(deps, what or need(**changes), within_s=30)
    return access.credential.secret.reveal()


async def test_fifty_tools_at_once_fetch_one_token(harness: Harness) -> None:
    deps = harness.instance()
    tools = [need(outbound=dataclasses.replace(OUTBOUND, tool=f"tool_{number}")) for number in range(50)]
    tokens = await asyncio.gather(*(fetched(deps, tool) for tool in tools))
    assert set(tokens) == {token(1)}
    assert len(harness.login.requests) == 1


async def test_two_instances_fetch_one_token(harness: Harness) -> None:
    harness.login.gate = asyncio.Event()

    async def pause(seconds: float) -> None:
        assert harness.login.gate is not None
        harness.login.gate.set()  # the other instance is still waiting for the endpoint when this one begins to wait for it
        await harness.waits(seconds)

    first, second = harness.instance(pause=pause), harness.instance(pause=pause)
    tokens = await asyncio.gather(*(fetched(deps) for deps in (first, second, first, second)))
    assert set(tokens) == {token(1)}
    assert len(harness.login.requests) == 1


async def test_a_token_is_kept_for_the_next_call_of_any_instance(harness: Harness) -> None:
    assert await fetched(harness.instance()) == await fetched(harness.instance()) == token(1)
    assert len(harness.login.requests) == 1


async def test_when_the_one_who_fetches_dies_another_takes_over(harness: Harness) -> None:
    harness.login.gate = asyncio.Event()
    dying = await harness.reached(fetched(harness.instance()))
    slots = dict(harness.memory.tokens)
    dying.cancel()
    await asyncio.gather(dying, return_exceptions=True)
    harness.memory.tokens.update(slots)  # a process that dies gives nothing back
    harness.login.gate = None
    began = harness.clock.now()
    assert await fetched(harness.instance()) == token(2)
    assert harness.clock.now() - began >= FETCH_LEASE


async def test_who_took_over_keeps_its_token_when_the_first_comes_back(harness: Harness) -> None:
    harness.login.gate = asyncio.Event()
    slow = await harness.reached(fetched(harness.instance()))
    gate, harness.login.gate = harness.login.gate, None
    harness.clock.turn(FETCH_LEASE)
    assert await fetched(harness.instance()) == token(2)
    gate.set()
    assert await slow == token(1)  # it has one, and uses it
    assert await fetched(harness.instance()) == token(2)
    assert [event for event, _ in harness.log.lines].count("token.not_kept") == 1


async def test_a_fetch_goes_on_when_one_of_those_who_wait_goes(harness: Harness) -> None:
    harness.login.gate, deps = asyncio.Event(), harness.instance()
    first = await harness.reached(fetched(deps))
    second = asyncio.ensure_future(fetched(deps))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    harness.login.gate.set()
    assert await second == token(1)


async def test_a_fetch_that_nobody_waits_for_ends_and_leaves_the_place_free(harness: Harness) -> None:
    harness.login.gate = asyncio.Event()
    alone = await harness.reached(fetched(harness.instance()))
    alone.cancel()
    await asyncio.gather(alone, return_exceptions=True)
    harness.login.gate = None
    began = harness.clock.now()
    assert await fetched(harness.instance()) == token(2)
    assert harness.clock.now() == began


async def test_who_waits_for_another_instance_does_not_wait_for_ever(harness: Harness) -> None:
    harness.login.gate = asyncio.Event()
    forever = await harness.reached(fetched(harness.instance()))

    async def pause(seconds: float) -> None:
        await harness.waits(seconds)
        (key, slot), *_ = harness.memory.tokens.items()
        fetch = dataclasses.replace(slot.fetch, until=harness.clock.now() + FETCH_LEASE)
        harness.memory.tokens[key] = dataclasses.replace(slot, fetch=fetch)

    with pytest.raises(CallRefusedError, match="no answer in time"):
        await fetched(harness.instance(pause=pause))
    forever.cancel()
    await asyncio.gather(forever, return_exceptions=True)


async def test_a_call_without_time_left_gets_no_token(harness: Harness) -> None:
    harness.login.gate = asyncio.Event()
    with pytest.raises(CallRefusedError, match="no answer in time"):
        await obtain_access(harness.instance(), need(), within_s=0)


async def test_those_who_waited_together_are_refused_together(harness: Harness) -> None:
    harness.login.answer = lambda _: build_response("no", 403)
    deps = harness.instance()
    access = await asyncio.gather(*(fetched(deps) for _ in range(10)), return_exceptions=True)
    assert {str(item) for item in access} == {
        "Error: no token could be fetched for this tool -- the token endpoint answered with status 403 "
        "and no error that the standard names"
    }
    assert len(harness.login.requests) == 1


async def test_a_token_endpoint_that_never_ends_is_a_call_that_was_not_sent(harness: Harness) -> None:
    def endless(_: object) -> InboundResponse:
        raise CallRefusedError(refusal.report_timeout(10))

    harness.login.answer = endless
    with pytest.raises(
        CallRefusedError, match=r"no token could be fetched for this tool -- request timed out \(10s\)"
    ) as refused:
        await fetched(harness.instance())
    assert refused.value.refusal.blocked


async def test_after_a_fetch_that_failed_the_next_one_tries_at_once(harness: Harness) -> None:
    harness.login.answer = lambda _: build_response("no", 503)
    with pytest.raises(CallRefusedError):
        await fetched(harness.instance())
    harness.login.answer, began = None, harness.clock.now()
    assert await fetched(harness.instance()) == token(2)
    assert harness.clock.now() == began


async def test_owners_never_share_a_token(harness: Harness) -> None:
    deps = harness.instance()
    ben = dataclasses.replace(POLICY, owner="ben")
    assert await asyncio.gather(fetched(deps), fetched(deps, policy=ben)) == [token(1), token(2)]


async def test_tasks_share_a_token_only_where_no_secret_of_a_task_is_in_it(harness: Harness) -> None:
    deps, second = harness.instance(), dataclasses.replace(POLICY, task="task_2")
    assert await fetched(deps) != await fetched(deps, policy=second)
    open_to_all = dataclasses.replace(need().auth, client_secret="public-by-design")
    assert await fetched(deps, need(open_to_all)) == await fetched(deps, need(open_to_all, policy=second))


async def test_another_auth_block_is_another_token(harness: Harness) -> None:
    deps = harness.instance()
    second = dataclasses.replace(need().auth, scope="read")
    assert await fetched(deps) != await fetched(deps, need(second))


async def test_another_place_for_the_token_in_the_same_answer_is_another_token(harness: Harness) -> None:
    harness.login.answer = lambda _: build_response(f'{{"a": "{token(1)}", "b": "{token(2)}"}}')
    request = Exchange(url="https://login.service.test/")
    first, second = (need(TokenExchange(request=request, extract=Extract(token_path=f"$.{name}"))) for name in "ab")
    assert [await fetched(harness.instance(), item) for item in (first, second)] == [token(1), token(2)]


async def test_a_secret_that_was_stored_again_never_gets_the_old_token(harness: Harness) -> None:
    deps = harness.instance()
    assert await fetched(deps) == token(1)
    changed = {"CLIENT_SECRET": credential(version=2)}
    assert await fetched(deps, credentials=changed) == token(2)


async def test_a_token_sealed_to_another_version_of_the_key_is_fetched_again(harness: Harness) -> None:
    await fetched(harness.instance())
    harness.key_version = 2
    assert await fetched(harness.instance()) == token(2)


async def test_a_token_that_does_not_open_is_fetched_again_and_replaced(harness: Harness) -> None:
    await fetched(harness.instance())
    ((key, slot),) = harness.memory.tokens.items()
    ciphertext = slot.token.ciphertext
    spoilt = dataclasses.replace(slot.token, ciphertext=ciphertext[:-1] + bytes([ciphertext[-1] ^ 1]))
    harness.memory.tokens[key] = dataclasses.replace(slot, token=spoilt)
    assert await fetched(harness.instance()) == token(2)
    assert await fetched(harness.instance()) == token(2)


async def test_a_token_moved_to_another_owners_place_does_not_open(harness: Harness) -> None:
    ben = dataclasses.replace(POLICY, owner="ben")
    await fetched(harness.instance())
    ((key, slot),) = harness.memory.tokens.items()
    await fetched(harness.instance(), policy=ben)
    (theirs,) = set(harness.memory.tokens) - {key}
    harness.memory.tokens[theirs] = slot
    assert await fetched(harness.instance(), policy=ben) == token(3)


async def test_two_calls_refused_with_the_same_token_fetch_one_new_one(harness: Harness) -> None:
    deps, api = harness.instance(), Api(token(2))
    await fetched(deps)
    results = await asyncio.gather(*(call(deps, api) for _ in range(2)))
    assert [item.response_status for item in results] == [200, 200]
    assert len(harness.login.requests) == 2


async def test_two_instances_refused_with_the_same_token_fetch_one_new_one(harness: Harness) -> None:
    first, second, api = harness.instance(), harness.instance(), Api(token(2))
    await fetched(first)
    results = await asyncio.gather(call(first, api), call(second, api))
    assert [item.response_status for item in results] == [200, 200]
    assert len(harness.login.requests) == 2


async def test_only_the_token_that_was_refused_is_forgotten(harness: Harness) -> None:
    deps = harness.instance()
    old = await obtain_access(deps, need(), within_s=30)
    new = await obtain_access(deps, need(), within_s=30, instead_of=old)
    late = await obtain_access(harness.instance(), need(), within_s=30, instead_of=old)
    assert new.credential.secret.reveal() == late.credential.secret.reveal() == token(2)
    assert len(harness.login.requests) == 2


async def test_a_flight_is_over_when_its_work_is() -> None:
    single_flight: SingleFlight[int] = SingleFlight()
    done: list[int] = []

    async def work() -> int:
        done.append(1)
        return len(done)

    assert [await single_flight.share("k", work), await single_flight.share("k", work)] == [1, 2]
