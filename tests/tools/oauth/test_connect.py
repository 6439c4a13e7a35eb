"""A consent becomes a credential once, for its owner and its task; whatever the token endpoint says, nothing is told of it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from ferryman.domain.credentials.connection import LIFETIME, NotConnectedError
from ferryman.domain.credentials.credential import GrantStatus
from ferryman.inmemory.clock import START

from .harness import CLIENT_SECRET, LOGIN, Harness


async def test_a_consent_becomes_a_credential_that_holds_the_access_token(harness: Harness) -> None:
    credential = await harness.connect()
    assert credential.secret.reveal() in harness.server.report()["issued"]  # type: ignore[operator]
    assert credential.label.version == 1
    assert credential.label.hosts == ("api.calendar.test",)
    assert harness.read_sealed().grant == GrantStatus(scopes=("read", "write"), token_expires_at=START + timedelta(hours=1))
    assert harness.counts == {"authorize": 1, "authorization_code": 1}


async def test_the_grant_is_sealed_beside_the_token_and_shown_nowhere(harness: Harness) -> None:
    credential = await harness.connect()
    grant = credential.grant
    assert grant is not None
    assert grant.refresh_token is not None
    for secret in (credential.secret, grant.refresh_token):
        assert secret.reveal() not in repr(credential) + repr(harness.read_sealed()) + str(harness.log.lines)
        assert secret.reveal().encode() not in harness.read_sealed().ciphertext


@pytest.mark.parametrize("location", ["basic_header", "body"])
async def test_a_client_with_a_secret_shows_it_where_the_service_wants_it(harness: Harness, location: str) -> None:
    harness.oauth["creds_location"] = location
    await harness.connect(client_id="keyed", secret=CLIENT_SECRET)
    (query,) = harness.internet.requests(LOGIN)
    assert ("authorization" in dict(query.headers)) == (location == "basic_header")
    assert (CLIENT_SECRET.encode() in query.body) == (location == "body")


async def test_a_connection_is_used_once(harness: Harness) -> None:
    begun, address = await harness.begin()
    code = await harness.consent(address)
    came = await asyncio.gather(*(harness.finish(begun, code) for _ in range(5)), return_exceptions=True)
    assert sorted(type(item).__name__ for item in came) == [*["NotConnectedError"] * 4, "str"]
    assert harness.counts["authorization_code"] == 1


async def test_a_connection_runs_out_after_ten_minutes(harness: Harness) -> None:
    begun, address = await harness.begin()
    code = await harness.consent(address)
    harness.clock.turn(LIFETIME)
    with pytest.raises(NotConnectedError, match="10 minutes"):
        await harness.finish(begun, code)
    assert "authorization_code" not in harness.counts


async def test_a_connection_is_finished_by_its_owner_alone(harness: Harness) -> None:
    begun, address = await harness.begin()
    with pytest.raises(NotConnectedError, match="does not open"):
        await harness.finish(begun, await harness.consent(address), owner="bob")
    assert harness.memory.credentials == {}


ALTERED = {
    "the redirect": {"redirect_uri": "http://127.0.0.1:1/elsewhere"},
    "the client": {"client_id": "another"},
    "the scopes": {"scopes": ("admin",)},
    "the end": {"expires_at": START + timedelta(days=1)},
    "where the secret goes": {"creds_location": "body"},
}


@pytest.mark.parametrize("what", ALTERED)
async def test_a_connection_that_was_altered_where_it_is_kept_does_not_open(harness: Harness, what: str) -> None:
    begun, address = await harness.begin()
    harness.memory.connections["t"][begun.digest] = replace(begun, **ALTERED[what])
    with pytest.raises(NotConnectedError, match="does not open"):
        await harness.finish(begun, await harness.consent(address))


async def test_a_connection_with_another_label_does_not_open(harness: Harness) -> None:
    begun, address = await harness.begin()
    label = replace(begun.label, hosts=("evil.test",))
    harness.memory.connections["t"][begun.digest] = replace(begun, label=label)
    with pytest.raises(NotConnectedError, match="does not open"):
        await harness.finish(begun, await harness.consent(address))


async def test_a_connection_re_aimed_to_another_token_endpoint_sends_nothing(harness: Harness) -> None:
    begun, address = await harness.begin()
    harness.oauth["token_url"] = f"https://{LOGIN}/token/echo"
    with pytest.raises(NotConnectedError, match="no longer has such a token endpoint"):
        await harness.finish(begun, await harness.consent(address))
    assert harness.internet.requests(LOGIN) == []


async def test_a_code_of_another_connection_brings_nothing(harness: Harness) -> None:
    _, address = await harness.begin()
    begun, _ = await harness.begin()
    with pytest.raises(NotConnectedError, match="answered invalid_grant"):
        await harness.finish(begun, await harness.consent(address))
    assert harness.memory.credentials == {}


@pytest.mark.parametrize("code", ["", "a\nb", "x" * 2049, "é"])
async def test_a_code_that_is_none_is_not_sent(harness: Harness, code: str) -> None:
    begun, _ = await harness.begin()
    with pytest.raises(NotConnectedError, match="the code is not one"):
        await harness.finish(begun, code)
    assert harness.internet.requests(LOGIN) == []


ISSUER = f"https://{LOGIN}"
WRONG_ISSUERS: dict[str, tuple[dict[str, object], str | None, str]] = {
    "another issuer": ({"issuer": ISSUER}, "https://login.evil.test", "another issuer"),
    "another issuer's word for it": ({"issuer": ISSUER}, f"{ISSUER}/", "another issuer"),
    "the same in capitals": ({"issuer": ISSUER}, ISSUER.upper(), "another issuer"),
    "no issuer where there always is one": ({"issuer": ISSUER, "sends_iss": True}, None, "has no iss"),
    "another issuer where there always is one": ({"issuer": ISSUER, "sends_iss": True}, "https://evil.test", "another issuer"),
    "an issuer that cannot be compared": ({}, ISSUER, "catalog has no issuer to compare it with"),
}


@pytest.mark.parametrize("case", WRONG_ISSUERS)
async def test_a_response_of_another_issuer_sends_nothing_and_uses_the_connection_up(harness: Harness, case: str) -> None:
    entry, iss, why = WRONG_ISSUERS[case]
    harness.oauth.update(entry)
    begun, address = await harness.begin()
    code = await harness.consent(address)
    with pytest.raises(NotConnectedError, match=why) as refused:
        await harness.finish(begun, code, iss=iss)
    assert iss is None or iss not in str(refused.value) + str(harness.log.lines)
    assert [event for event, _ in harness.log.lines if event.startswith("credential")] == ["credential.not_connected"]
    assert harness.internet.requests(LOGIN) == []
    with pytest.raises(NotConnectedError, match="no such connection"):
        await harness.finish(begun, code, iss=ISSUER)


@pytest.mark.parametrize("sends", [True, False])
async def test_a_response_of_the_services_own_issuer_is_redeemed(harness: Harness, sends: bool) -> None:
    harness.oauth.update(issuer=ISSUER, sends_iss=sends)
    begun, address = await harness.begin()
    assert await harness.finish(begun, await harness.consent(address), iss=ISSUER) == "CALENDAR_TOKEN"


async def test_a_service_that_need_not_name_itself_may_stay_silent(harness: Harness) -> None:
    harness.oauth["issuer"] = ISSUER
    begun, address = await harness.begin()
    assert await harness.finish(begun, await harness.consent(address)) == "CALENDAR_TOKEN"


HOSTILE = {
    "echo": "gave back what it was sent",
    "echo-error": "no error that the standard names",
    "redirect": "with a redirect",
    "endless": "timed out",
    "huge": "longer than 65536",
    "text": "not a JSON object",
    "deep": "not a JSON object",
}


@pytest.mark.parametrize("kind", HOSTILE)
async def test_a_hostile_token_endpoint_brings_nothing_and_is_not_quoted(harness: Harness, kind: str) -> None:
    harness.oauth["token_url"] = f"https://{LOGIN}/token/{kind}"
    begun, address = await harness.begin(client_id="keyed", secret=CLIENT_SECRET)
    code = await harness.consent(address)
    harness.within_s = 1.5 if kind == "endless" else 5.0
    with pytest.raises(NotConnectedError, match=HOSTILE[kind]) as error:
        await harness.finish(begun, code)
    assert harness.memory.credentials == {}
    assert {request.path for request in harness.internet.requests(LOGIN)} <= {f"/token/{kind}"}
    for secret in (CLIENT_SECRET, code):
        assert secret not in str(error.value) + str(harness.log.lines)


async def test_connecting_again_is_the_next_version_and_keeps_the_day_it_was_made(harness: Harness) -> None:
    await harness.connect()
    harness.passes(60)
    await harness.connect()
    assert harness.read_sealed().label.version == 2
    assert (harness.read_sealed().created_at, harness.read_sealed().updated_at) == (START, START + timedelta(seconds=60))


async def test_what_the_service_says_of_scopes_nobody_asked_for_is_not_shown(harness: Harness) -> None:
    begun, address = await harness.begin()
    await harness.finish(begun, await harness.consent(address.replace("scope=read+write", "scope=read+sk-live-something-else")))
    assert harness.read_sealed().grant is not None
    assert harness.read_sealed().grant.scopes == ("read",)
