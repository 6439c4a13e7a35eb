"""The OAuth server of the simulated internet: consent, each grant, the login that is no OAuth, and what it protects."""

from __future__ import annotations

import base64
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import jwt
import pytest

from emulator.clock import EmulatorClock
from emulator.internet.oauth import OAuthServer, Rules, read_rules
from emulator.internet.oauth.store import challenge_of
from emulator.reading import InvalidRequestError

VERIFIER = "v" * 43
SECRET = "a/secret+with signs"
BACK = "http://127.0.0.1:9/callback"
QUERY = {
    "response_type": "code",
    "client_id": "public",
    "redirect_uri": BACK,
    "state": "s",
    "scope": "read",
    "code_challenge": challenge_of(VERIFIER),
    "code_challenge_method": "S256",
}


class Site:
    """The server and a browser."""

    def __init__(self, browser: httpx.AsyncClient, server: OAuthServer, clock: EmulatorClock) -> None:
        self.browser = browser
        self.server = server
        self.clock = clock

    async def code(self) -> str:
        self.server.rules = replace(self.server.rules, consent="allow")
        answer = await self.browser.get("/authorize", params=QUERY)
        return parse_qs(urlsplit(answer.headers["location"]).query)["code"][0]

    async def token(self, **form: str) -> httpx.Response:
        return await self.browser.post("/token", data={"client_id": "public", **form})

    async def fetch_tokens(self) -> dict[str, Any]:
        form = {"grant_type": "authorization_code", "redirect_uri": BACK, "code_verifier": VERIFIER}
        answer: dict[str, Any] = (await self.token(code=await self.code(), **form)).json()
        return answer

    async def resource(self, token: str) -> int:
        return (await self.browser.get("/resource", headers={"authorization": f"Bearer {token}"})).status_code


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    clock = EmulatorClock()
    server = OAuthServer(Rules(clients={"public": None, "own": SECRET}, users={"ann": "pass word"}), clock)
    transport = httpx.ASGITransport(app=server)  # type: ignore[arg-type] # an ASGI application by its shape
    async with httpx.AsyncClient(transport=transport, base_url="https://login.test") as browser:
        yield Site(browser, server, clock)


@pytest.mark.parametrize("consent", ["allow", "deny"])
async def test_a_response_names_its_issuer_where_that_is_set(site: Site, consent: str) -> None:
    site.server.rules = replace(site.server.rules, consent=consent, iss="https://login.test")
    answer = await site.browser.get("/authorize", params=QUERY)
    assert parse_qs(urlsplit(answer.headers["location"]).query)["iss"] == ["https://login.test"]


async def test_a_person_sees_a_page_and_what_is_pressed_leads_back(site: Site) -> None:
    page = (await site.browser.get("/authorize", params={**QUERY, "scope": "<script>"})).text
    assert "<script>" not in page
    hidden = dict(re.findall(r'name="(\w+)" value="([^"]*)"', page))
    pressed = {name: hidden[name] for name in QUERY} | {"decision": "allow"}
    answer = await site.browser.post("/authorize", data=pressed)
    assert answer.headers["location"].startswith(f"{BACK}?code=code_")
    declined = await site.browser.post("/authorize", data={**pressed, "decision": "deny"})
    assert declined.headers["location"] == f"{BACK}?error=access_denied&state=s"


@pytest.mark.parametrize("change", [{"client_id": "nobody"}, {"redirect_uri": "https://evil.test/"}])
async def test_an_unknown_client_or_address_is_led_nowhere(site: Site, change: dict[str, str]) -> None:
    assert (await site.browser.get("/authorize", params={**QUERY, **change})).status_code == 400


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
    ],
)
async def test_consent_without_pkce_is_refused(site: Site, change: dict[str, str], error: str) -> None:
    answer = await site.browser.get("/authorize", params={**QUERY, **change})
    assert f"error={error}" in answer.headers["location"]


async def test_a_code_with_its_verifier_becomes_tokens_once(site: Site) -> None:
    form = {"grant_type": "authorization_code", "code": await site.code(), "redirect_uri": BACK, "code_verifier": VERIFIER}
    first, second = await site.token(**form), await site.token(**form)
    assert (first.status_code, second.json()["error"]) == (200, "invalid_grant")
    assert first.json()["expires_in"] == 3600
    assert await site.resource(first.json()["access_token"]) == 200


@pytest.mark.parametrize("change", [{"code_verifier": "w" * 43}, {"redirect_uri": "http://127.0.0.1:8/"}, {"client_id": "own"}])
async def test_a_code_is_its_own_clients_with_its_own_verifier_and_address(site: Site, change: dict[str, str]) -> None:
    form = {"grant_type": "authorization_code", "code": await site.code(), "redirect_uri": BACK, "code_verifier": VERIFIER}
    assert (await site.token(**{**form, **change})).json()["error"] in ("invalid_grant", "invalid_client")


async def test_a_refresh_token_that_was_rotated_out_revokes_all_of_its_family(site: Site) -> None:
    first = await site.fetch_tokens()
    second = (await site.token(grant_type="refresh_token", refresh_token=first["refresh_token"])).json()
    assert second["refresh_token"] != first["refresh_token"]
    assert await site.resource(second["access_token"]) == 200
    again = await site.token(grant_type="refresh_token", refresh_token=first["refresh_token"])
    assert again.json()["error"] == "invalid_grant"
    assert await site.resource(second["access_token"]) == 401
    assert (await site.token(grant_type="refresh_token", refresh_token=second["refresh_token"])).status_code == 400
    assert site.server.report()["counts"]["reuse"] == 1  # type: ignore[index]


async def test_tokens_and_codes_expire_by_the_clouds_clock(site: Site) -> None:
    tokens, code = await site.fetch_tokens(), await site.code()
    site.clock.advance(timedelta(seconds=3_601))
    assert await site.resource(tokens["access_token"]) == 401
    form = {"grant_type": "authorization_code", "redirect_uri": BACK, "code_verifier": VERIFIER}
    assert (await site.token(code=code, **form)).json()["error"] == "invalid_grant"
    site.clock.advance(timedelta(days=1))
    assert (await site.token(grant_type="refresh_token", refresh_token=tokens["refresh_token"])).status_code == 400


async def test_a_client_asks_for_itself_by_header_or_body(site: Site) -> None:
    basic = base64.b64encode(b"own:a%2Fsecret%2Bwith+signs").decode()
    form = {"grant_type": "client_credentials"}
    by_header = await site.browser.post("/token", data=form, headers={"authorization": f"Basic {basic}"})
    by_body = await site.browser.post("/token", data={**form, "client_id": "own", "client_secret": SECRET})
    assert [item.status_code for item in (by_header, by_body)] == [200, 200]
    assert "refresh_token" not in by_body.json()
    for wrong in ({"client_id": "own", "client_secret": "x"}, {"client_id": "own"}, {"client_id": "public"}):
        assert (await site.browser.post("/token", data={**form, **wrong})).status_code == 401


async def test_a_login_answers_in_json_or_in_plain_text(site: Site) -> None:
    form = {"username": "ann", "password": "pass word"}
    session = (await site.browser.post("/login", json=form)).json()["session"]
    text = (await site.browser.post("/login.txt", data=form)).text.strip()
    for proof in ({"headers": {"x-session": session["id"]}}, {"params": {"session": text}}):
        assert (await site.browser.get("/resource", **proof)).status_code == 200  # type: ignore[arg-type]
    assert session["lives"] == 3600
    assert (await site.browser.post("/login", json={**form, "password": "x"})).status_code == 401


async def test_each_grant_is_counted_and_what_was_given_out_is_listed(site: Site) -> None:
    tokens = await site.fetch_tokens()
    await site.resource(tokens["access_token"])
    await site.resource("nobody's")
    report = site.server.report()
    assert report["counts"] == {"authorize": 1, "authorization_code": 1, "resource": 1, "resource 401": 1}
    assert tokens["access_token"] in report["issued"]  # type: ignore[operator]


@pytest.mark.parametrize(
    "rules", [{"consent": "maybe"}, {"access_s": "long"}, {"clients": {"a": 1}}, {"users": {"a": None}}, {"unknown": 1}, []]
)
def test_rules_that_are_none_are_refused(rules: object) -> None:
    with pytest.raises(InvalidRequestError):
        read_rules(rules, "body")


def test_rules_that_are_not_named_stay() -> None:
    before = read_rules({"clients": {"a": None}, "access_s": 5}, "body")
    after = read_rules({"rotate": False}, "body", before)
    assert (after.clients, after.access_s, after.rotate) == ({"a": None}, 5, False)


RESOURCE = "https://api.test/mcp"


def allow_resource(site: Site, *resources: str) -> None:
    site.server.rules = replace(site.server.rules, consent="allow", resources=resources)


async def fetch_access_token(site: Site, **form: str) -> httpx.Response:
    """Return the answer to a code that was asked for with a resource."""
    answer = await site.browser.get("/authorize", params={**QUERY, "resource": RESOURCE})
    code = parse_qs(urlsplit(answer.headers["location"]).query)["code"][0]
    known = {"grant_type": "authorization_code", "redirect_uri": BACK, "code_verifier": VERIFIER, "resource": RESOURCE}
    return await site.token(code=code, **{**known, **form})


async def test_a_token_for_a_resource_is_a_signed_one_of_its_key_set(site: Site) -> None:
    allow_resource(site, RESOURCE)
    token = (await fetch_access_token(site)).json()["access_token"]
    metadata = (await site.browser.get("/.well-known/oauth-authorization-server")).json()
    (key,) = (await site.browser.get(metadata["jwks_uri"])).json()["keys"]
    header = jwt.get_unverified_header(token)
    assert (header["typ"], header["kid"]) == ("at+jwt", key["kid"])
    claims = jwt.decode(token, jwt.PyJWK(key), audience=RESOURCE, issuer=metadata["issuer"])
    assert (claims["sub"], claims["scope"], claims["client_id"]) == ("248289761001", "read", "public")


async def test_a_refreshed_token_is_for_the_same_resource(site: Site) -> None:
    allow_resource(site, RESOURCE)
    tokens = (await fetch_access_token(site)).json()
    renewed = (await site.token(grant_type="refresh_token", refresh_token=tokens["refresh_token"])).json()
    assert jwt.decode(renewed["access_token"], options={"verify_signature": False})["aud"] == RESOURCE


async def test_no_token_is_issued_for_another_resource(site: Site) -> None:
    allow_resource(site, "https://other.test/mcp")
    answer = await site.browser.get("/authorize", params={**QUERY, "resource": RESOURCE})
    assert "error=invalid_target" in answer.headers["location"]
    allow_resource(site, RESOURCE)
    assert (await fetch_access_token(site, resource="https://other.test/mcp")).json()["error"] == "invalid_target"


async def test_a_person_consents_to_a_resource_on_the_page(site: Site) -> None:
    allow_resource(site, RESOURCE)
    site.server.rules = replace(site.server.rules, consent="ask")
    page = (await site.browser.get("/authorize", params={**QUERY, "resource": RESOURCE})).text
    assert f'name="resource" value="{RESOURCE}"' in page


async def test_a_client_registers_itself_with_an_address_of_this_machine(site: Site) -> None:
    site.server.rules = replace(site.server.rules, consent="allow")
    registered = await site.browser.post("/register", json={"redirect_uris": [BACK], "client_name": "Claude"})
    client = registered.json()["client_id"]
    answer = await site.browser.get("/authorize", params={**QUERY, "client_id": client})
    assert (registered.status_code, answer.status_code) == (201, 302)
    for uris in (["https://evil.test/"], [], "x", None):
        assert (await site.browser.post("/register", json={"redirect_uris": uris})).status_code == 400
