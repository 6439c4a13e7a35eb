"""A token is renewed before it is used, once, however many want it; what is lost on the way is reported as it is."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials import grant as rules
from ferryman.domain.credentials.credential import Credential, SealedCredential
from ferryman.inmemory.credentials import MemoryCredentials
from ferryman.ports.errors import UnavailableError

from .harness import CLIENT_SECRET, LOGIN, Harness

NEARLY = 3_600 - 59


async def get_reason(harness: Harness) -> str:
    """Return why the credential may not be used."""
    with pytest.raises(CallRefusedError) as error:
        await harness.use_credential(await harness.open_credential())
    return error.value.refusal.reason


async def test_a_token_with_more_than_a_minute_left_is_used_as_it_is(harness: Harness) -> None:
    credential = await harness.connect()
    harness.passes(3_600 - 61)
    assert await harness.use_credential(credential) is credential
    assert "refresh_token" not in harness.counts


async def test_a_token_with_a_minute_left_is_renewed_with_all_that_came_with_it(harness: Harness) -> None:
    before = await harness.connect()
    harness.passes(NEARLY)
    after = await harness.use_credential(before)
    assert after.secret.reveal() != before.secret.reveal()
    assert harness.server.report()["issued"][-2:] == [after.grant.refresh_token.reveal(), after.secret.reveal()]  # type: ignore[index,union-attr]
    opened = await harness.open_credential()
    assert (opened.label.version, opened.secret.reveal()) == (2, after.secret.reveal())
    assert opened.grant.refresh_token.reveal() == after.grant.refresh_token.reveal()  # type: ignore[union-attr]
    assert harness.read_sealed().grant == rules.get_grant_status(after.grant)  # type: ignore[arg-type]


async def test_a_renewal_is_of_the_same_grant_and_a_consent_is_another(harness: Harness) -> None:
    before = await harness.connect()
    harness.passes(NEARLY)
    renewed = await harness.use_credential(before)
    assert renewed.label.version == before.label.version + 1
    assert rules.describe_grant(renewed) == rules.describe_grant(before)
    again = await harness.connect()
    assert rules.describe_grant(again) != rules.describe_grant(before)


async def test_ten_at_once_renew_it_once_and_all_use_the_new_one(harness: Harness) -> None:
    before = await harness.connect()
    harness.passes(NEARLY)
    harness.rules(delay_s=0.1)
    harness.poll_interval = timedelta(milliseconds=100)
    after = await asyncio.gather(*(harness.use_credential(before) for _ in range(10)))
    assert len({item.secret.reveal() for item in after} - {before.secret.reveal()}) == 1
    assert harness.counts["refresh_token"] == 1
    assert "reuse" not in harness.counts


async def test_each_renewal_uses_the_refresh_token_of_the_last(harness: Harness) -> None:
    credential = await harness.connect()
    for _ in range(3):
        harness.passes(NEARLY)
        credential = await harness.use_credential(await harness.open_credential())
    assert (harness.counts["refresh_token"], credential.label.version) == (3, 4)


async def test_a_service_that_keeps_its_refresh_token_is_asked_with_it_again(harness: Harness) -> None:
    first = await harness.connect()
    harness.rules(rotate=False)
    for _ in range(2):
        harness.passes(NEARLY)
        await harness.use_credential(await harness.open_credential())
    assert (await harness.open_credential()).grant.refresh_token.reveal() == first.grant.refresh_token.reveal()  # type: ignore[union-attr]


async def test_a_client_shows_its_secret_at_each_renewal(harness: Harness) -> None:
    credential = await harness.connect(client_id="keyed", secret=CLIENT_SECRET)
    harness.passes(NEARLY)
    await harness.use_credential(credential)
    assert harness.counts["refresh_token"] == 1


async def test_a_service_that_takes_the_consent_back_makes_it_one_to_connect_again(harness: Harness) -> None:
    await harness.connect()
    harness.passes(3_700)
    harness.rules(clients={})
    assert await get_reason(harness) == "credential_reconnect"
    assert harness.read_sealed().grant.reconnect  # type: ignore[union-attr]
    assert await get_reason(harness) == "credential_reconnect"
    assert len(harness.internet.requests(LOGIN)) == 2  # it is not asked a second time


async def test_one_that_has_to_be_connected_again_is_used_as_long_as_its_token_lasts(harness: Harness) -> None:
    credential = await harness.connect()
    harness.passes(NEARLY)
    harness.rules(clients={})
    assert (await harness.use_credential(credential)).secret.reveal() == credential.secret.reveal()
    assert harness.read_sealed().grant.reconnect  # type: ignore[union-attr]


async def test_connecting_again_makes_it_good(harness: Harness) -> None:
    await harness.connect()
    harness.passes(3_700)
    harness.rules(refresh_s=0)
    known = harness.server.rules.clients
    harness.rules(clients={})
    assert await get_reason(harness) == "credential_reconnect"
    harness.rules(clients=known)
    again = await harness.connect()
    assert await harness.use_credential(again) is again


async def test_a_service_that_fails_for_now_is_asked_again_later(harness: Harness) -> None:
    await harness.connect()
    harness.passes(3_700)
    # what was given up on here goes on there, and may be done before or after what is asked next
    harness.rules(delay_s=0.5, rotate=False)
    harness.within_s = 0.2
    assert await get_reason(harness) == "credential_not_renewed"
    assert harness.read_sealed().grant.reconnect is False  # type: ignore[union-attr]
    harness.rules(delay_s=0)
    harness.within_s = 5.0
    harness.passes(rules.LEASE.total_seconds())
    assert (await harness.use_credential(await harness.open_credential())).label.version == 2


class Dying(MemoryCredentials):
    """Credentials of an instance that dies when it is to write the second time: between the answer and the storing of it."""

    swaps = 0

    async def swap(self, before: SealedCredential, after: SealedCredential) -> bool:
        self.swaps += 1
        if self.swaps == 2:
            raise ConnectionResetError("the instance died")
        return await super().swap(before, after)


async def dying(harness: Harness, credential: Credential) -> None:
    """Renew `credential` in an instance that dies, and let its lease expire."""
    harness.passes(3_700)
    harness.credentials = Dying(harness.memory)
    with pytest.raises(ConnectionResetError):
        await harness.use_credential(credential)
    harness.credentials = None
    harness.passes(rules.LEASE.total_seconds())


async def test_dying_between_answer_and_write_loses_a_refresh_token_that_is_handed_out_once(harness: Harness) -> None:
    credential = await harness.connect()
    await dying(harness, credential)
    assert await get_reason(harness) == "credential_reconnect"
    assert harness.counts["reuse"] == 1


async def test_dying_between_answer_and_write_loses_nothing_where_refresh_tokens_stay(harness: Harness) -> None:
    credential = await harness.connect()
    harness.rules(rotate=False)
    await dying(harness, credential)
    assert (await harness.use_credential(await harness.open_credential())).label.version == 2


async def test_while_another_renews_a_token_that_lasts_is_used(harness: Harness) -> None:
    credential = await harness.connect()
    harness.passes(NEARLY)
    harness.memory.credentials["t"]["CALENDAR_TOKEN"] = rules.claim_renewal(
        harness.read_sealed(), "another", harness.clock.now()
    )  # type: ignore[assignment]
    assert (await harness.use_credential(credential)).secret.reveal() == credential.secret.reveal()
    assert "refresh_token" not in harness.counts


async def test_while_another_renews_an_expired_token_is_waited_for_and_no_longer_than_that(harness: Harness) -> None:
    await harness.connect()
    harness.passes(3_700)
    harness.memory.credentials["t"]["CALENDAR_TOKEN"] = rules.claim_renewal(
        harness.read_sealed(), "another", harness.clock.now()
    )  # type: ignore[assignment]
    assert await get_reason(harness) == "credential_not_renewed"
    assert "refresh_token" not in harness.counts


class Rotating(MemoryCredentials):
    """Credentials that are sealed to another key while a token is renewed."""

    swaps = 0

    async def swap(self, before: SealedCredential, after: SealedCredential) -> bool:
        self.swaps += 1
        if self.swaps == 2:
            harness: Harness = self.harness  # type: ignore[attr-defined]
            assert await self.reseal(harness.read_sealed(), await harness.vault.reseal(harness.read_sealed(), version=2))
        return await super().swap(before, after)


async def test_a_credential_that_was_resealed_meanwhile_is_stored_under_the_new_key(harness: Harness) -> None:
    credential = await harness.connect()
    harness.passes(NEARLY)
    harness.credentials = Rotating(harness.memory)
    harness.credentials.harness = harness  # type: ignore[attr-defined]
    after = await harness.use_credential(credential)
    assert (harness.read_sealed().key_version, harness.read_sealed().label.version) == (2, 2)
    assert (await harness.open_credential()).secret.reveal() == after.secret.reveal()


async def test_a_credential_that_was_stored_again_meanwhile_is_left_alone(harness: Harness) -> None:
    credential = await harness.connect()
    harness.passes(NEARLY)

    class Replaced(MemoryCredentials):
        async def swap(self, before: SealedCredential, after: SealedCredential) -> bool:
            if after.label.version > before.label.version:
                label = replace(before.label, version=2)
                await self.put(replace(before, label=label, grant=None))
            return await super().swap(before, after)

    harness.credentials = Replaced(harness.memory)
    with pytest.raises(UnavailableError):
        await harness.use_credential(credential)
    assert harness.read_sealed().grant is None


async def test_what_the_task_is_not_approved_for_is_not_renewed(harness: Harness) -> None:
    credential = await harness.connect()
    harness.passes(3_700)
    assert await harness.use_credential(credential, services=()) is credential
    assert "refresh_token" not in harness.counts


async def test_a_refresh_token_goes_to_no_other_endpoint_than_the_one_it_came_from(harness: Harness) -> None:
    await harness.connect()
    harness.passes(3_700)
    harness.oauth["token_url"] = f"https://{LOGIN}/token/echo"
    assert await get_reason(harness) == "credential_not_renewed"
    assert [request.path for request in harness.internet.requests(LOGIN)] == ["/token"]


async def test_nothing_of_a_renewal_is_told(harness: Harness) -> None:
    credential = await harness.connect()
    harness.passes(NEARLY)
    await harness.use_credential(credential)
    error = str(harness.log.lines)
    assert "credential.renewed" in error
    for secret in harness.server.report()["issued"]:  # type: ignore[attr-defined]
        assert secret not in error


class Silent(MemoryCredentials):
    """Credentials whose store does not answer when the renewed token is written first; it may have been written."""

    swaps, written = 0, False

    async def swap(self, before: SealedCredential, after: SealedCredential) -> bool:
        self.swaps += 1
        if self.swaps == 2:
            if self.written:
                assert await super().swap(before, after)
            raise UnavailableError("the store did not answer")
        return await super().swap(before, after)


@pytest.mark.parametrize("written", [False, True])
async def test_a_store_that_does_not_answer_once_loses_no_refresh_token(harness: Harness, written: bool) -> None:
    credential = await harness.connect()
    harness.passes(3_700)
    harness.credentials = Silent(harness.memory)
    harness.credentials.written = written
    after = await harness.use_credential(credential)
    assert (harness.read_sealed().label.version, (await harness.open_credential()).secret.reveal()) == (
        2,
        after.secret.reveal(),
    )
    harness.credentials = None
    harness.passes(3_700)
    await harness.use_credential(await harness.open_credential())
    assert "reuse" not in harness.counts
