"""A token is renewed before it is used, once, whoever else wants it; what is lost on the way is told as it is."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from ferryman.domain import grant as rules
from ferryman.domain.credential import Credential, Sealed
from ferryman.domain.refusal import Refused
from ferryman.local.tasks import MemoryCredentials
from ferryman.ports import Unavailable

from .world import CLIENT_SECRET, LOGIN, World

NEARLY = 3_600 - 59


async def refused(world: World) -> str:
    """Why the credential is not to be used."""
    with pytest.raises(Refused) as told:
        await world.used(await world.opened())
    return told.value.refusal.reason


async def test_a_token_with_more_than_a_minute_left_is_used_as_it_is(world: World) -> None:
    credential = await world.connected()
    world.passes(3_600 - 61)
    assert await world.used(credential) is credential
    assert "refresh_token" not in world.counts


async def test_a_token_with_a_minute_left_is_renewed_with_all_that_came_with_it(world: World) -> None:
    before = await world.connected()
    world.passes(NEARLY)
    after = await world.used(before)
    assert after.secret.reveal() != before.secret.reveal()
    assert world.server.report()["issued"][-2:] == [after.grant.refresh_token.reveal(), after.secret.reveal()]  # type: ignore[index,union-attr]
    opened = await world.opened()
    assert (opened.label.version, opened.secret.reveal()) == (2, after.secret.reveal())
    assert opened.grant.refresh_token.reveal() == after.grant.refresh_token.reveal()  # type: ignore[union-attr]
    assert world.stored().grant == rules.visible(after.grant)  # type: ignore[arg-type]


async def test_ten_at_once_renew_it_once_and_all_use_the_new_one(world: World) -> None:
    before = await world.connected()
    world.passes(NEARLY)
    world.rules(delay_s=0.1)
    world.looks = timedelta(milliseconds=100)
    after = await asyncio.gather(*(world.used(before) for _ in range(10)))
    assert len({each.secret.reveal() for each in after} - {before.secret.reveal()}) == 1
    assert world.counts["refresh_token"] == 1
    assert "reuse" not in world.counts


async def test_each_renewal_uses_the_refresh_token_of_the_last(world: World) -> None:
    credential = await world.connected()
    for _ in range(3):
        world.passes(NEARLY)
        credential = await world.used(await world.opened())
    assert (world.counts["refresh_token"], credential.label.version) == (3, 4)


async def test_a_service_that_keeps_its_refresh_token_is_asked_with_it_again(world: World) -> None:
    first = await world.connected()
    world.rules(rotate=False)
    for _ in range(2):
        world.passes(NEARLY)
        await world.used(await world.opened())
    assert (await world.opened()).grant.refresh_token.reveal() == first.grant.refresh_token.reveal()  # type: ignore[union-attr]


async def test_a_client_shows_its_secret_at_each_renewal(world: World) -> None:
    credential = await world.connected(client_id="keyed", secret=CLIENT_SECRET)
    world.passes(NEARLY)
    await world.used(credential)
    assert world.counts["refresh_token"] == 1


async def test_a_service_that_takes_the_consent_back_makes_it_one_to_connect_again(world: World) -> None:
    await world.connected()
    world.passes(3_700)
    world.rules(clients={})
    assert await refused(world) == "credential_reconnect"
    assert world.stored().grant.reconnect  # type: ignore[union-attr]
    assert await refused(world) == "credential_reconnect"
    assert len(world.internet.requests(LOGIN)) == 2  # it is not asked a second time


async def test_one_that_has_to_be_connected_again_is_used_as_long_as_its_token_lasts(world: World) -> None:
    credential = await world.connected()
    world.passes(NEARLY)
    world.rules(clients={})
    assert (await world.used(credential)).secret.reveal() == credential.secret.reveal()
    assert world.stored().grant.reconnect  # type: ignore[union-attr]


async def test_connecting_again_makes_it_good(world: World) -> None:
    await world.connected()
    world.passes(3_700)
    world.rules(refresh_s=0)
    known = world.server.rules.clients
    world.rules(clients={})
    assert await refused(world) == "credential_reconnect"
    world.rules(clients=known)
    again = await world.connected()
    assert await world.used(again) is again


async def test_a_service_that_fails_for_now_is_asked_again_later(world: World) -> None:
    await world.connected()
    world.passes(3_700)
    # what was given up on here goes on there, and may be done before or after what is asked next
    world.rules(delay_s=0.5, rotate=False)
    world.within_s = 0.2
    assert await refused(world) == "credential_not_renewed"
    assert world.stored().grant.reconnect is False  # type: ignore[union-attr]
    world.rules(delay_s=0)
    world.within_s = 5.0
    world.passes(rules.LEASE.total_seconds())
    assert (await world.used(await world.opened())).label.version == 2


class Dying(MemoryCredentials):
    """Credentials of an instance that dies when it is to write the second time: between the answer and the storing of it."""

    swaps = 0

    async def swap(self, before: Sealed, after: Sealed) -> bool:
        self.swaps += 1
        if self.swaps == 2:
            raise ConnectionResetError("the instance died")
        return await super().swap(before, after)


async def dying(world: World, credential: Credential) -> None:
    """An instance dies while it renews `credential`, and its time is over."""
    world.passes(3_700)
    world.credentials = Dying(world.memory)
    with pytest.raises(ConnectionResetError):
        await world.used(credential)
    world.credentials = None
    world.passes(rules.LEASE.total_seconds())


async def test_dying_between_answer_and_write_loses_a_refresh_token_that_is_handed_out_once(world: World) -> None:
    credential = await world.connected()
    await dying(world, credential)
    assert await refused(world) == "credential_reconnect"
    assert world.counts["reuse"] == 1


async def test_dying_between_answer_and_write_loses_nothing_where_refresh_tokens_stay(world: World) -> None:
    credential = await world.connected()
    world.rules(rotate=False)
    await dying(world, credential)
    assert (await world.used(await world.opened())).label.version == 2


async def test_while_another_renews_a_token_that_lasts_is_used(world: World) -> None:
    credential = await world.connected()
    world.passes(NEARLY)
    world.memory.credentials["t"]["CALENDAR_TOKEN"] = rules.taken(world.stored(), "another", world.clock.now())  # type: ignore[assignment]
    assert (await world.used(credential)).secret.reveal() == credential.secret.reveal()
    assert "refresh_token" not in world.counts


async def test_while_another_renews_an_expired_token_is_waited_for_and_no_longer_than_that(world: World) -> None:
    await world.connected()
    world.passes(3_700)
    world.memory.credentials["t"]["CALENDAR_TOKEN"] = rules.taken(world.stored(), "another", world.clock.now())  # type: ignore[assignment]
    assert await refused(world) == "credential_not_renewed"
    assert "refresh_token" not in world.counts


class Rotating(MemoryCredentials):
    """Credentials that are sealed to another key while a token is renewed."""

    swaps = 0

    async def swap(self, before: Sealed, after: Sealed) -> bool:
        self.swaps += 1
        if self.swaps == 2:
            world: World = self.world  # type: ignore[attr-defined]
            assert await self.reseal(world.stored(), await world.vault.resealed(world.stored(), version=2))
        return await super().swap(before, after)


async def test_a_credential_that_was_sealed_anew_meanwhile_is_stored_under_the_new_key(world: World) -> None:
    credential = await world.connected()
    world.passes(NEARLY)
    world.credentials = Rotating(world.memory)
    world.credentials.world = world  # type: ignore[attr-defined]
    after = await world.used(credential)
    assert (world.stored().key_version, world.stored().label.version) == (2, 2)
    assert (await world.opened()).secret.reveal() == after.secret.reveal()


async def test_a_credential_that_was_stored_anew_meanwhile_is_left_alone(world: World) -> None:
    credential = await world.connected()
    world.passes(NEARLY)

    class Replaced(MemoryCredentials):
        async def swap(self, before: Sealed, after: Sealed) -> bool:
            if after.label.version > before.label.version:
                label = replace(before.label, version=2)
                await self.put(replace(before, label=label, grant=None))
            return await super().swap(before, after)

    world.credentials = Replaced(world.memory)
    with pytest.raises(Unavailable):
        await world.used(credential)
    assert world.stored().grant is None


async def test_what_the_task_is_not_approved_for_is_not_renewed(world: World) -> None:
    credential = await world.connected()
    world.passes(3_700)
    assert await world.used(credential, services=()) is credential
    assert "refresh_token" not in world.counts


async def test_a_refresh_token_goes_to_no_other_endpoint_than_the_one_it_came_from(world: World) -> None:
    await world.connected()
    world.passes(3_700)
    world.oauth["token_url"] = f"https://{LOGIN}/token/echo"
    assert await refused(world) == "credential_not_renewed"
    assert [each.path for each in world.internet.requests(LOGIN)] == ["/token"]


async def test_nothing_of_a_renewal_is_told(world: World) -> None:
    credential = await world.connected()
    world.passes(NEARLY)
    await world.used(credential)
    told = str(world.log.lines)
    assert "credential.renewed" in told
    for secret in world.server.report()["issued"]:  # type: ignore[attr-defined]
        assert secret not in told


class Silent(MemoryCredentials):
    """Credentials whose store does not answer when the renewed token is written first; it may have been written."""

    swaps, written = 0, False

    async def swap(self, before: Sealed, after: Sealed) -> bool:
        self.swaps += 1
        if self.swaps == 2:
            if self.written:
                assert await super().swap(before, after)
            raise Unavailable("the store did not answer")
        return await super().swap(before, after)


@pytest.mark.parametrize("written", [False, True])
async def test_a_store_that_does_not_answer_once_loses_no_refresh_token(world: World, written: bool) -> None:
    credential = await world.connected()
    world.passes(3_700)
    world.credentials = Silent(world.memory)
    world.credentials.written = written
    after = await world.used(credential)
    assert (world.stored().label.version, (await world.opened()).secret.reveal()) == (2, after.secret.reveal())
    world.credentials = None
    world.passes(3_700)
    await world.used(await world.opened())
    assert "reuse" not in world.counts
