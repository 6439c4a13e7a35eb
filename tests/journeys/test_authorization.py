"""Access tokens and the approval page through the whole stack: from the consent at an authorization server to what is sent."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import ssl
from collections.abc import AsyncIterator, Mapping
from typing import Any
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

import httpx
import pytest

from ferryman.client import ApiRefusedError
from ferryman.stack.admin import Admin
from tests.canaries import canary
from tests.journeys.conftest import OAUTH_ISSUER, OAUTH_RESOURCE, Journey
from tests.journeys.mcp_client import PAGES, McpClient
from tests.journeys.test_consent import names
from tests.journeys.test_mcp import set_chat_task

HOST = "api.coingecko.com"
ISSUER = urlsplit(OAUTH_ISSUER).hostname or ""
BACK, VERIFIER = "http://127.0.0.1:9/callback", "v" * 43
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
OTHER = "https://other.example.com/mcp"


@pytest.fixture
async def browser(stack: Mapping[str, Any], admin: Admin) -> AsyncIterator[httpx.AsyncClient]:
    """A browser at the authorization server, which knows no token yet where this is the first journey with it."""
    try:
        await admin.read_oauth(ISSUER)
    except Exception:  # noqa: BLE001 - there is none yet
        await admin.serve_oauth(ISSUER, {"consent": "allow", "iss": OAUTH_ISSUER, "resources": [OAUTH_RESOURCE, OTHER]})
    table = names(stack)
    tls = ssl.create_default_context(cafile=table["ca"])
    tls.load_cert_chain(table["client"])
    there = f"https://127.0.0.1:{table['dial'][table['names'][ISSUER][0]]}"
    async with httpx.AsyncClient(verify=tls, trust_env=False, base_url=there, headers={"host": ISSUER}) as client:
        yield client


async def fetch_token(
    browser: httpx.AsyncClient, admin: Admin, *, subject: str, scope: str, resource: str = OAUTH_RESOURCE
) -> str:
    """Return an access token by consent, with PKCE, as a client of /mcp gets one."""
    await admin.change_oauth(ISSUER, {"subject": subject})
    wanted_fields = {
        "response_type": "code",
        "client_id": "ferryman",
        "redirect_uri": BACK,
        "scope": scope,
        "resource": resource,
    }
    query = urlencode({**wanted_fields, "code_challenge": CHALLENGE, "code_challenge_method": "S256"})
    led = await browser.get(f"/authorize?{query}", extensions={"sni_hostname": ISSUER})
    (code,) = parse_qs(urlsplit(led.headers["location"]).query)["code"]
    form = {"grant_type": "authorization_code", "client_id": "ferryman", "redirect_uri": BACK, "code_verifier": VERIFIER}
    answer = await browser.post(
        "/token", data={**form, "code": code, "resource": resource}, extensions={"sni_hostname": ISSUER}
    )
    token = str(answer.json()["access_token"])
    # its header is that of many tokens
    canary.register_value("the signature of an access token", token.rpartition(".")[2])
    return token


async def test_a_person_links_an_identity_and_its_token_calls_a_tool(
    journey: Journey, stack: Mapping[str, Any], admin: Admin, browser: httpx.AsyncClient
) -> None:
    await journey.serve(HOST, json={"price": 42})
    await set_chat_task(journey, tools=["http_get", "calculator"], integrations=["coingecko"])
    scope = "ferryman:read ferryman:tools:integration"
    token = await fetch_token(browser, admin, subject=journey.name, scope=scope)
    linked = await journey.client.link_identity(token)
    assert (linked["issuer"], linked["subject"]) == (OAUTH_ISSUER, journey.name)
    async with McpClient(stack["url"], token) as client:
        listed = [tool["name"] for tool in (await client.ask("tools/list"))["tools"]]
        assert ("http_get" in listed, "calculator" in listed) == (True, False)
        result = await client.call("http_get", {"url": journey.url(HOST)})
        assert result["structuredContent"]["ok"] is True
        refused = await client.send("tools/call", {"name": "calculator", "arguments": {"expression": "1"}})
        assert refused["error"]["code"] == 403
    (sent,) = await journey.received(HOST)
    assert token not in json.dumps(sent)
    await journey.client.delete_identity(linked["identity_id"])
    async with McpClient(stack["url"], token) as client:
        assert "error" in await client.send("tools/list")


async def test_a_token_for_another_server_and_one_at_another_address_are_refused(
    journey: Journey, stack: Mapping[str, Any], admin: Admin, browser: httpx.AsyncClient
) -> None:
    scope = "ferryman:read ferryman:run"
    token = await fetch_token(browser, admin, subject=journey.name, scope=scope)
    await journey.client.link_identity(token)
    foreign = await fetch_token(browser, admin, subject=journey.name, scope=scope, resource=OTHER)
    with pytest.raises(ApiRefusedError, match="not accepted"):
        await journey.client.link_identity(foreign)
    async with httpx.AsyncClient(base_url=stack["url"]) as http:
        answer = await http.post("/mcp", headers={"Authorization": f"Bearer {foreign}"}, json={})
        assert (answer.status_code, 'error="invalid_token"' in answer.headers["www-authenticate"]) == (401, True)
        for method, path in (("GET", "/v1/me"), ("POST", "/v1/keys"), ("GET", "/v1/approvals")):
            assert (await http.request(method, path, headers={"Authorization": f"Bearer {token}"})).status_code == 401
        metadata = (await http.get("/.well-known/oauth-protected-resource/mcp")).json()
    assert (metadata["resource"], metadata["authorization_servers"]) == (OAUTH_RESOURCE, [OAUTH_ISSUER])


async def test_a_person_approves_at_the_page_what_a_client_waits_for(
    journey: Journey, stack: Mapping[str, Any], key: str
) -> None:
    await journey.serve(HOST)
    approvals = [{"mode": "always", "tools": ["http_post"]}]
    await set_chat_task(journey, tools=["http_post"], integrations=["coingecko"], approvals=approvals)
    async with (
        McpClient(stack["url"], key, capabilities=PAGES) as client,
        httpx.AsyncClient(base_url=stack["url"]) as page,
    ):
        arguments = {"url": journey.url(HOST), "body": {"note": "<b>hello</b>"}}
        waiting = await client.call("http_post", arguments)
        ((approval, question),) = waiting["inputRequests"].items()
        path = urlsplit(question["params"]["url"]).path
        assert "hello" not in (await page.get(path)).text
        signed_in = await page.post("/console/sign-in", data={"key": key, "next": path})
        assert (signed_in.status_code, urljoin("/console/sign-in", signed_in.headers["location"])) == (303, path)
        text = (await page.get(path)).text
        assert journey.url(HOST) in html.unescape(text)
        assert "&lt;b&gt;hello&lt;/b&gt;" in text
        form = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', text))
        assert await journey.received(HOST) == []
        decided = await page.post(path, data={**form, "sends": "1", "reason": "", "do": "approve"})
        assert decided.status_code == 303
        result = await client.call("http_post", arguments, requestState=waiting["requestState"])
    assert result["structuredContent"]["ok"] is True
    assert len(await journey.received(HOST)) == 1
    assert (await journey.client.get_approval(approval))["decision"]["by"] == "owner"
