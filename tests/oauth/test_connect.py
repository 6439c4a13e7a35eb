"""A consent becomes a credential once, for its owner and its task; whatever the token endpoint says, nothing is told of it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from ferryman.domain.connection import LIFETIME, Unconnected
from ferryman.domain.credential import Granted
from ferryman.local.clock import START

from .world import CLIENT_SECRET, LOGIN, World


async def test_a_consent_becomes_a_credential_that_holds_the_access_token(world: World) -> None:
    credential = await world.connected()
    assert credential.secret.reveal() in world.server.report()["issued"]  # type: ignore[operator]
    assert credential.label.version == 1
    assert credential.label.hosts == ("api.calendar.test",)
    assert world.stored().grant == Granted(scopes=("read", "write"), token_expires_at=START + timedelta(hours=1))
    assert world.counts == {"authorize": 1, "authorization_code": 1}


async def test_the_grant_is_sealed_beside_the_token_and_shown_nowhere(world: World) -> None:
    credential = await world.connected()
    grant = credential.grant
    assert grant is not None
    assert grant.refresh_token is not None
    for secret in (credential.secret, grant.refresh_token):
        assert secret.reveal() not in repr(credential) + repr(world.stored()) + str(world.log.lines)
        assert secret.reveal().encode() not in world.stored().ciphertext


@pytest.mark.parametrize("location", ["basic_header", "body"])
async def test_a_client_with_a_secret_shows_it_where_the_service_wants_it(world: World, location: str) -> None:
    world.oauth["creds_location"] = location
    await world.connected(client_id="keyed", secret=CLIENT_SECRET)
    (asked,) = world.internet.requests(LOGIN)
    assert ("authorization" in dict(asked.headers)) == (location == "basic_header")
    assert (CLIENT_SECRET.encode() in asked.body) == (location == "body")


async def test_a_connection_is_used_once(world: World) -> None:
    begun, address = await world.begin()
    code = await world.consent(address)
    came = await asyncio.gather(*(world.finish(begun, code) for _ in range(5)), return_exceptions=True)
    assert sorted(type(each).__name__ for each in came) == [*["Unconnected"] * 4, "str"]
    assert world.counts["authorization_code"] == 1


async def test_a_connection_runs_out_after_ten_minutes(world: World) -> None:
    begun, address = await world.begin()
    code = await world.consent(address)
    world.clock.turn(LIFETIME)
    with pytest.raises(Unconnected, match="10 minutes"):
        await world.finish(begun, code)
    assert "authorization_code" not in world.counts


async def test_a_connection_is_finished_by_its_owner_alone(world: World) -> None:
    begun, address = await world.begin()
    with pytest.raises(Unconnected, match="does not open"):
        await world.finish(begun, await world.consent(address), owner="bob")
    assert world.memory.credentials == {}


ALTERED = {
    "the redirect": {"redirect_uri": "http://127.0.0.1:1/elsewhere"},
    "the client": {"client_id": "another"},
    "the scopes": {"scopes": ("admin",)},
    "the end": {"expires_at": START + timedelta(days=1)},
    "where the secret goes": {"creds_location": "body"},
}


@pytest.mark.parametrize("what", ALTERED)
async def test_a_connection_that_was_altered_where_it_is_kept_does_not_open(world: World, what: str) -> None:
    begun, address = await world.begin()
    world.memory.connections["t"][begun.digest] = replace(begun, **ALTERED[what])
    with pytest.raises(Unconnected, match="does not open"):
        await world.finish(begun, await world.consent(address))


async def test_a_connection_with_another_label_does_not_open(world: World) -> None:
    begun, address = await world.begin()
    label = replace(begun.label, hosts=("evil.test",))
    world.memory.connections["t"][begun.digest] = replace(begun, label=label)
    with pytest.raises(Unconnected, match="does not open"):
        await world.finish(begun, await world.consent(address))


async def test_a_connection_re_aimed_to_another_token_endpoint_sends_nothing(world: World) -> None:
    begun, address = await world.begin()
    world.oauth["token_url"] = f"https://{LOGIN}/token/echo"
    with pytest.raises(Unconnected, match="no such token endpoint"):
        await world.finish(begun, await world.consent(address))
    assert world.internet.requests(LOGIN) == []


async def test_a_code_of_another_connection_brings_nothing(world: World) -> None:
    _, address = await world.begin()
    begun, _ = await world.begin()
    with pytest.raises(Unconnected, match="answered invalid_grant"):
        await world.finish(begun, await world.consent(address))
    assert world.memory.credentials == {}


@pytest.mark.parametrize("code", ["", "a\nb", "x" * 2049, "é"])
async def test_a_code_that_is_none_is_not_sent(world: World, code: str) -> None:
    begun, _ = await world.begin()
    with pytest.raises(Unconnected, match="the code is not one"):
        await world.finish(begun, code)
    assert world.internet.requests(LOGIN) == []


HOSTILE = {
    "echo": "gave back what it was sent",
    "echo-error": "no error that the standard names",
    "redirect": "status 307",
    "endless": "timed out",
    "huge": "too long",
    "text": "no JSON object",
    "deep": "no JSON object",
}


@pytest.mark.parametrize("kind", HOSTILE)
async def test_a_hostile_token_endpoint_brings_nothing_and_is_not_quoted(world: World, kind: str) -> None:
    world.oauth["token_url"] = f"https://{LOGIN}/token/{kind}"
    begun, address = await world.begin(client_id="keyed", secret=CLIENT_SECRET)
    code = await world.consent(address)
    world.within_s = 1.0 if kind == "endless" else 5.0
    with pytest.raises(Unconnected, match=HOSTILE[kind]) as told:
        await world.finish(begun, code)
    assert world.memory.credentials == {}
    assert world.counts[f"hostile {kind}"] == 1
    for secret in (CLIENT_SECRET, code):
        assert secret not in str(told.value) + str(world.log.lines)


async def test_connecting_again_is_the_next_version_and_keeps_the_day_it_was_made(world: World) -> None:
    await world.connected()
    world.passes(60)
    await world.connected()
    assert world.stored().label.version == 2
    assert (world.stored().created_at, world.stored().updated_at) == (START, START + timedelta(seconds=60))


async def test_what_the_service_says_of_scopes_nobody_asked_for_is_not_shown(world: World) -> None:
    begun, address = await world.begin()
    await world.finish(begun, await world.consent(address.replace("scope=read+write", "scope=read+sk-live-something-else")))
    assert world.stored().grant is not None
    assert world.stored().grant.scopes == ("read",)
