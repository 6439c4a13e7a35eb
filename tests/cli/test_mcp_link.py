"""`ferryman mcp link`: an access token by consent, of exactly the server and resource that the service names, and the link."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import jwt
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route

from emulator.clock import EmulatorClock
from emulator.internet.oauth import OAuthServer, Rules
from ferryman.cli import mcp
from ferryman.client.access_token import NoAccessTokenError
from ferryman.domain.credentials.authorization_response import ConsentDeclinedError
from tests.authority import sign_token
from tests.serve import serve_app

from .conftest import Typed


@dataclass
class Site:
    """A service and its authorization server at one address; `resource` and `metadata` change what they say of themselves."""

    url: str = ""
    resource: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    is_there: bool = True

    def __post_init__(self) -> None:
        self.oauth = OAuthServer(Rules(consent="allow"), EmulatorClock())

    async def describe_resource(self, _: Request) -> Response:
        known = {"resource": f"{self.url}/mcp", "authorization_servers": [self.url], **self.resource}
        return JSONResponse(known if self.is_there else {}, 200 if self.is_there else 404)

    async def describe_server(self, _: Request) -> Response:
        known = {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
        }
        return JSONResponse({**known, **self.metadata})


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    routes = [
        Route("/.well-known/oauth-protected-resource/mcp", site.describe_resource),
        Route("/.well-known/oauth-authorization-server", site.describe_server),
        Mount("/", site.oauth),  # type: ignore[arg-type] # an ASGI application by its shape
    ]
    with serve_app(Starlette(routes=routes)) as url:
        site.url = url
        site.oauth.rules = Rules(consent="allow", iss=url, resources=(f"{url}/mcp",))
        yield site


@pytest.fixture(autouse=True)
def _browser(monkeypatch: pytest.MonkeyPatch) -> None:
    """A browser that goes where it is led, as the person who consents has it."""

    def visit(page: str) -> bool:
        threading.Thread(target=lambda: httpx.get(page, follow_redirects=True), daemon=True).start()
        return True

    monkeypatch.setattr("webbrowser.open", visit)


async def obtain(site: Site) -> str:
    return await mcp.obtain_token(site.url, "ferryman", port=0, is_opened=True, within_s=20)


async def test_a_token_is_had_by_consent_for_this_service(site: Site) -> None:
    claims = jwt.decode(await obtain(site), options={"verify_signature": False})
    assert (claims["aud"], claims["iss"]) == (f"{site.url}/mcp", site.url)
    assert claims["scope"] == "ferryman:read ferryman:run"


@pytest.mark.parametrize(
    ("resource", "metadata", "about"),
    [
        ({"resource": "https://other.test/mcp"}, {}, "another resource"),
        ({"authorization_servers": []}, {}, "not of https"),
        ({"authorization_servers": ["http://evil.test"]}, {}, "not of https"),
        ({"authorization_servers": ["file:///etc/passwd"]}, {}, "not of https"),
        ({}, {"issuer": "https://evil.test"}, "another issuer"),
        ({}, {"code_challenge_methods_supported": ["plain"]}, "PKCE"),
        ({}, {"code_challenge_methods_supported": None}, "PKCE"),
        ({}, {"token_endpoint": "http://evil.test/token"}, "not of https"),
        ({}, {"authorization_endpoint": None}, "not of https"),
        ({}, {"more": "a" * 200_000}, "more than 200,000 bytes"),
    ],
)
async def test_documents_of_anything_else_are_refused(
    site: Site, resource: dict[str, Any], metadata: dict[str, Any], about: str
) -> None:
    site.resource, site.metadata = resource, metadata
    with pytest.raises(NoAccessTokenError, match=about):
        await obtain(site)


async def test_a_service_without_an_authorization_server_says_so(site: Site) -> None:
    site.is_there = False
    with pytest.raises(NoAccessTokenError, match="names no authorization server"):
        await obtain(site)


async def test_an_answer_of_another_issuer_is_refused_before_its_code_is_used(site: Site) -> None:
    site.oauth.rules = Rules(consent="allow", iss="https://evil.test", resources=(f"{site.url}/mcp",))
    with pytest.raises(NoAccessTokenError, match="another issuer"):
        await obtain(site)
    site.oauth.rules = Rules(consent="allow", resources=(f"{site.url}/mcp",))
    with pytest.raises(NoAccessTokenError, match="does not say which issuer"):
        await obtain(site)
    assert site.oauth.report()["counts"] == {"authorize": 2}


async def test_a_person_who_declines_gets_no_token(site: Site) -> None:
    site.oauth.rules = Rules(consent="deny", iss=site.url, resources=(f"{site.url}/mcp",))
    with pytest.raises(ConsentDeclinedError):
        await obtain(site)


def test_an_identity_is_linked_listed_and_unlinked(typed: Typed) -> None:
    token = sign_token(sub="linked on the command line", exp=4_000_000_000)
    linked = typed("mcp", "link", "--json", stdin=f"{token}\n")
    assert linked.exit_code == 0, linked.output
    assert token not in linked.output
    listed = typed("mcp", "links").stdout
    assert "linked on the command line" in listed
    unlinked = typed("mcp", "unlink", json.loads(linked.stdout)["identity_id"])
    assert unlinked.exit_code == 0, unlinked.output
    assert "linked on the command line" not in typed("mcp", "links").stdout


def test_what_is_no_token_is_refused(typed: Typed) -> None:
    refused = typed("mcp", "link", stdin="x\n")
    assert (refused.exit_code, "access_token" in refused.stderr) == (5, True)
