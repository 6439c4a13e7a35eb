"""The Python SDK's own OAuth client at /mcp: it finds the authorization server, registers, and gets a token by consent.

The SDK is in an environment of its own, which `make mcp-conformance` makes; without it the test is skipped.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route

from emulator.clock import EmulatorClock
from emulator.internet.oauth import OAuthServer, Rules
from ferryman.domain.workspaces.api_key import ApiKey
from ferryman.domain.workspaces.identity import AccessToken, ProtectedResource
from ferryman.domain.workspaces.member import Right
from ferryman.gcp.clock import SystemClock
from ferryman.vault.access_tokens import AccessTokenReader
from tests.campaigns.mcp.installing import PYTHON
from tests.serving.conftest import create_app
from tests.serving.people_mcp.stage import McpStage

PROGRAM = """
import asyncio, json, sys
from urllib.parse import parse_qs, urlsplit
import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider, TokenStorage
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata

class Storage(TokenStorage):
    tokens = client = None
    async def get_tokens(self): return self.tokens
    async def set_tokens(self, tokens): self.tokens = tokens
    async def get_client_info(self): return self.client
    async def set_client_info(self, client): self.client = client

asked = []

async def redirect(url):
    asked.append({name: value[0] for name, value in parse_qs(urlsplit(url).query).items()})
    async with httpx2.AsyncClient() as browser:
        answer = await browser.get(url)
    asked[-1]["led"] = answer.headers["location"]

async def come_back():
    led = {name: value[0] for name, value in parse_qs(urlsplit(asked[-1]["led"]).query).items()}
    return AuthorizationCodeResult(code=led["code"], state=led.get("state"), iss=led.get("iss"))

async def main():
    url, calls = json.loads(sys.stdin.read())
    metadata = OAuthClientMetadata(client_name="judge", redirect_uris=["http://127.0.0.1:9/callback"])
    auth = OAuthClientProvider(url, metadata, Storage(), redirect, come_back)
    async with httpx2.AsyncClient(auth=auth) as http:
        async with Client(streamable_http_client(url, http_client=http)) as client:
            listed = [tool.name for tool in (await client.list_tools()).tools]
            results = [(await client.call_tool(name, arguments)).structured_content for name, arguments in calls]
    print(json.dumps({"tools": listed, "results": results, "asked": asked}))

asyncio.run(main())
"""


class LoopbackAuthority:
    """An authorization server on loopback; `ports.AuthorityKeys` of it."""

    def __init__(self, url: str, resource: str, subject: str) -> None:
        self.url = url
        rules = Rules(clients={}, consent="allow", iss=url, resources=(resource,), subject=subject)
        self.oauth = OAuthServer(rules, EmulatorClock())
        self.app = Starlette(
            routes=[
                Route("/.well-known/oauth-authorization-server", self._describe),
                Mount("/", self.oauth),  # type: ignore[arg-type] # an ASGI application by its shape
            ]
        )

    async def _describe(self, _: Request) -> Response:
        places = {"authorization_endpoint": "authorize", "token_endpoint": "token", "registration_endpoint": "register"}
        described = {name: f"{self.url}/{path}" for name, path in places.items()}
        extensions = {"code_challenge_methods_supported": ["S256"], "authorization_response_iss_parameter_supported": True}
        return JSONResponse({"issuer": self.url, "response_types_supported": ["code"], **described, **extensions})

    async def fetch(self) -> Sequence[Mapping[str, Any]]:
        keys: Sequence[Mapping[str, Any]] = self.oauth._store.signer.list_keys()["keys"]
        return keys


@asynccontextmanager
async def serve(app: Any, listening: socket.socket) -> AsyncIterator[None]:
    """Serve an application in this loop."""
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=1))
    serving = asyncio.create_task(server.serve([listening]))
    try:
        yield
    finally:
        server.should_exit = True
        await serving


async def test_the_sdk_gets_a_token_by_consent_and_calls_a_tool(people: McpStage) -> None:
    if not PYTHON.exists():
        pytest.skip("the SDK is not installed: `make mcp-conformance` installs it into build/mcp/venv")
    with socket.create_server(("127.0.0.1", 0)) as ours, socket.create_server(("127.0.0.1", 0)) as theirs:
        url, issuer = (f"http://127.0.0.1:{place.getsockname()[1]}" for place in (ours, theirs))
        authority = LoopbackAuthority(issuer, f"{url}/mcp", "judge")
        digest = AccessToken(issuer=issuer, subject="judge", scopes=frozenset()).digest
        people.memory.keys[digest] = ApiKey(
            **{"id": "identity_1", "owner": "ann", "workspace": people.workspace, "created_at": people.clock.now()},
            **{"scopes": (Right.READ, Right.RUN), "issuer": issuer, "subject": "judge"},
        )
        deps = replace(
            people.deps(),
            resource=ProtectedResource(url=f"{url}/mcp", issuer=issuer),
            access_tokens=AccessTokenReader(issuer, f"{url}/mcp", authority, SystemClock()),
            is_local=True,
        )
        async with serve(create_app(deps), ours), serve(authority.app, theirs):
            child = await asyncio.create_subprocess_exec(
                PYTHON,
                "-c",
                PROGRAM,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            calls = [["http_get", {"url": "https://api.coingecko.com/0"}]]
            out, err = await child.communicate(json.dumps([f"{url}/mcp", calls]).encode())
    assert child.returncode == 0, err.decode()[-2_000:]
    about = json.loads(out)
    assert {"http_get", "run_task"} <= set(about["tools"])
    assert about["results"][0]["ok"] is True
    (consent,) = about["asked"]
    assert (consent["resource"], consent["scope"]) == (f"{url}/mcp", "ferryman:read ferryman:run")
    assert consent["code_challenge_method"] == "S256"
