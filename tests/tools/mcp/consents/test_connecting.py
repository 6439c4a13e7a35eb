"""Connecting: a token of the issuer that was consented to, for the resource of the server, sent to its URL and nowhere else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl

import pytest

from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.connection import NotConnectedError
from ferryman.domain.remote_servers.authorization import TOKEN_NAME
from ferryman.domain.remote_servers.server import ServerAuth
from ferryman.tools.mcp.authorization.failure import AuthorizationFailedError
from ferryman.tools.mcp.authorization.fetching import REQUESTS_MAX, GateFetcher
from ferryman.tools.mcp.credentials import narrow_to_server
from tests.tools.mcp.consents.harness import HOST, ISSUER, LOGIN, URL, ConnectHarness

RESOURCE = {"resource": URL, "authorization_servers": [ISSUER]}


async def test_a_consent_becomes_a_token_for_the_servers_host_alone(harness: ConnectHarness) -> None:
    token = await harness.connect()
    assert token.label.hosts == (HOST,)
    assert token.grant is not None
    assert (token.grant.issuer, token.grant.resource, token.grant.scopes) == (ISSUER, URL, ("tools.read",))
    assert harness.server.authorization is not None
    assert harness.server.authorization.issuer == ISSUER


async def test_a_token_that_is_about_to_expire_is_renewed_for_the_same_resource(harness: ConnectHarness) -> None:
    harness.set_rules(access_s=3600.0)
    first = await harness.connect()
    harness.pass_time(3590)
    renewed = (await harness.open())[TOKEN_NAME]
    assert renewed.secret.reveal() != first.secret.reveal()
    assert renewed.grant is not None
    assert renewed.grant.resource == URL
    assert harness.counts["refresh_token"] == 1


async def test_a_former_token_is_scanned_for_and_sent_nowhere(harness: ConnectHarness) -> None:
    harness.set_rules(access_s=3600.0)
    first = await harness.connect()
    harness.pass_time(3590)
    opened = await harness.open()
    former = [item for item in opened.values() if item.secret.reveal() == first.secret.reveal()]
    assert former
    assert all(item.label.hosts == () for item in former)


async def test_a_token_is_not_for_the_server_at_another_url(harness: ConnectHarness) -> None:
    token = await harness.connect()
    for url in (f"https://{HOST}/other", "https://elsewhere.example.com/mcp", f"https://{HOST}/mcpx"):
        assert narrow_to_server(token, replace(harness.server, url=url)).label.hosts == ()


async def test_a_token_of_another_issuer_than_the_servers_is_not_sent(harness: ConnectHarness) -> None:
    token = await harness.connect()
    assert harness.server.authorization is not None
    other = replace(harness.server.authorization, issuer="https://other.example.com")
    assert narrow_to_server(token, replace(harness.server, authorization=other)).label.hosts == ()


async def test_a_document_that_names_another_token_endpoint_renews_nothing_there(harness: ConnectHarness) -> None:
    harness.set_rules(access_s=3600.0)
    await harness.connect()
    assert harness.server.authorization is not None
    evil = replace(harness.server.authorization, token_url="https://evil.example.com/token")
    harness.put("evil.example.com", {"method": "POST", "path": "/token", "json": {"access_token": "x" * 40}})
    harness.change(authorization=evil)
    harness.pass_time(3700)
    with pytest.raises(CallRefusedError, match="could not be renewed"):
        await harness.open()
    assert harness.internet.requests("evil.example.com") == []


async def test_a_server_that_nobody_connected_is_refused(harness: ConnectHarness) -> None:
    with pytest.raises(CallRefusedError, match="is not connected"):
        await harness.open()


@pytest.mark.parametrize("iss", ["https://evil.example.com", f"{ISSUER}/", ISSUER.upper(), None])
async def test_a_code_of_another_issuer_is_not_sent_on(harness: ConnectHarness, iss: str | None) -> None:
    begun, page = await harness.begin()
    answer = await harness.consent(page)
    with pytest.raises(NotConnectedError, match=r"iss|another issuer"):
        await harness.finish(begun, answer, iss=iss)
    assert "authorization_code" not in harness.counts


async def test_a_code_is_good_once(harness: ConnectHarness) -> None:
    begun, page = await harness.begin()
    answer = await harness.consent(page)
    await harness.finish(begun, answer)
    with pytest.raises(NotConnectedError, match="used already"):
        await harness.finish(begun, answer)


async def test_a_code_of_another_connection_is_refused_by_its_verifier(harness: ConnectHarness) -> None:
    _, first = await harness.begin()
    second, _ = await harness.begin()
    with pytest.raises(NotConnectedError, match="invalid_grant"):
        await harness.finish(second, await harness.consent(first))


async def test_the_consent_of_another_owner_is_not_redeemed(harness: ConnectHarness) -> None:
    begun, page = await harness.begin()
    with pytest.raises(NotConnectedError, match="no such server"):
        await harness.finish(begun, await harness.consent(page), owner="bob")
    with pytest.raises(NotConnectedError, match="no such server"):
        await harness.discover(owner="bob")


async def test_a_consent_that_began_for_another_url_is_not_redeemed(harness: ConnectHarness) -> None:
    begun, page = await harness.begin()
    answer = await harness.consent(page)
    harness.change(url="https://elsewhere.example.com/mcp")
    with pytest.raises(NotConnectedError, match="not of this server"):
        await harness.finish(begun, answer)
    assert "authorization_code" not in harness.counts


async def test_a_server_of_headers_is_not_connected(harness: ConnectHarness) -> None:
    harness.change(auth=ServerAuth.HEADERS)
    with pytest.raises(NotConnectedError, match="not added as one"):
        await harness.discover()


async def test_everything_of_a_consent_is_as_it_was_sealed(harness: ConnectHarness) -> None:
    begun, page = await harness.begin()
    answer = await harness.consent(page)
    stored = harness.memory.connections["mcp_servers/mcp_1"]
    stored[begun.digest] = replace(begun, token_url="https://evil.example.com/token")
    with pytest.raises(NotConnectedError, match="does not open"):
        await harness.finish(begun, answer)


@pytest.mark.parametrize(
    ("resource", "answer", "message"),
    [
        ({"resource": "https://evil.example.com/mcp", "authorization_servers": [ISSUER]}, {}, "another resource"),
        ({"resource": URL, "authorization_servers": ["https://169.254.169.254"]}, {}, "authorization servers"),
        ({"resource": URL, "authorization_servers": ["https://inward.example.com"]}, {}, "cannot be fetched"),
        (None, {"status": 302, "headers": {"location": f"{ISSUER}/x"}, "body": ""}, "302, which is not followed"),
        (None, {"body": '{"resource": "' + "x" * 70_000 + '"}'}, "more than 65,536 bytes"),
        (None, {"body": "[" * 60_000}, "not a JSON object"),
        (None, {"body": '{"resource": "a", "resource": "b"}'}, "not a JSON object"),
        (None, {"status": 500, "body": ""}, "HTTP 500"),
        (None, {"status": 404, "body": ""}, "no metadata of itself"),
    ],
)
async def test_metadata_of_a_hostile_server_is_refused_by_its_name(
    harness: ConnectHarness, resource: Any, answer: dict[str, Any], message: str
) -> None:
    harness.put("inward.example.com", {"path": "*", "json": {}}, addresses=["10.0.0.7"])
    harness.put_server(resource, **answer)
    with pytest.raises(NotConnectedError, match=message):
        await harness.discover()


@pytest.mark.parametrize("place", ["http://tools.example.com/x", "https://10.0.0.1/x", "https://localhost/x", "javascript:x"])
async def test_a_challenge_that_leads_inward_is_refused(harness: ConnectHarness, place: str) -> None:
    header = {"www-authenticate": f'Bearer resource_metadata="{place}"'}
    harness.put(HOST, {"method": "POST", "path": "/mcp", "status": 401, "headers": header, "body": ""})
    with pytest.raises(NotConnectedError, match="resource metadata cannot be used"):
        await harness.discover()


async def test_a_discovery_ends_whatever_is_listed(harness: ConnectHarness) -> None:
    issuers = [f"https://{label}.example.com/{label}" for label in ("a", "b", "c", "d", "e")]
    for issuer in issuers:
        harness.put(issuer.split("/")[2], {"path": "*", "status": 404, "body": ""})
    harness.put_server({"resource": URL, "authorization_servers": issuers})
    with pytest.raises(NotConnectedError, match="none of the server's authorization servers"):
        await harness.discover()
    assert harness.internet.requests("d.example.com") == []


async def test_a_token_endpoint_that_gives_back_what_it_was_sent_connects_nothing(harness: ConnectHarness) -> None:
    begun, page = await harness.begin()
    answer = await harness.consent(page)
    stored = {"access_token": answer["code"], "token_type": "Bearer"}
    harness.put("login.tools.test", {"method": "POST", "path": "/token", "json": stored})
    with pytest.raises(NotConnectedError, match="gave back what it was sent"):
        await harness.finish(begun, answer)
    assert await harness.deps.server_credentials.list("mcp_1") == ()  # type: ignore[union-attr]


async def test_neither_code_nor_token_is_in_the_log(harness: ConnectHarness) -> None:
    begun, page = await harness.begin()
    answer = await harness.consent(page)
    await harness.finish(begun, answer)
    token = (await harness.open())[TOKEN_NAME].secret.reveal()
    assert not any(secret in repr(harness.log.lines) for secret in (token, answer["code"]))


async def test_the_metadata_is_looked_for_where_the_challenge_says(harness: ConnectHarness) -> None:
    await harness.discover()
    server = harness.internet.mcp_server(HOST)
    assert server is not None
    assert server.report()["counts"]["resource metadata"] == 1  # type: ignore[index]


async def test_every_request_for_a_token_names_the_resource(harness: ConnectHarness) -> None:
    harness.set_rules(access_s=3600.0)
    await harness.connect()
    harness.pass_time(3590)
    await harness.open()
    forms = [dict(parse_qsl(sent.body.decode())) for sent in harness.internet.requests(LOGIN) if sent.path == "/token"]
    assert [form["grant_type"] for form in forms] == ["authorization_code", "refresh_token"]
    assert [form["resource"] for form in forms] == [URL, URL]


async def test_a_fetcher_makes_no_more_requests_than_a_discovery_has(harness: ConnectHarness) -> None:
    fetcher = GateFetcher(harness.deps.gate, "ann", requests=REQUESTS_MAX)
    with pytest.raises(AuthorizationFailedError, match="more than 12 requests"):
        await fetcher.get(f"{ISSUER}/jwks", "a document")
    assert "keys" not in harness.counts
