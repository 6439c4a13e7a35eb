"""/mcp of a local stack before the suite, which has no API key: a forwarder on 127.0.0.1 adds one to each request."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from emulator.web import listen, port_of
from tests.stack import create_key, start_stack

MODERN_SCENARIOS = (
    "tools-list",
    "resources-list",
    "prompts-list",
    "caching",
    "sep-2164-resource-not-found",
    "server-sse-multiple-streams",
    "input-required-result-unsupported-methods",
    "input-required-result-validate-input",
    "http-header-validation",
)
LEGACY_SCENARIOS = ("server-initialize", "ping", "tools-list", "resources-list", "prompts-list", "server-sse-multiple-streams")
"""Scenarios that need no fixtures: what they ask for, the product has."""

FORWARD_S = 90.0
BACK = ("content-type", "mcp-session-id")


@asynccontextmanager
async def serve_product() -> AsyncIterator[str]:
    """Start a stack with an owner, and yield the URL under which its /mcp is asked with the owner's key."""
    with tempfile.TemporaryDirectory() as folder, start_stack(Path(folder) / "data") as stack:
        key = await create_key(stack)
        with listen() as socket:
            async with httpx.AsyncClient(base_url=stack["url"], timeout=FORWARD_S, trust_env=False) as http:
                server = uvicorn.Server(uvicorn.Config(build_forwarder(http, key), log_level="error"))
                serving = asyncio.create_task(server.serve(sockets=[socket]))
                try:
                    yield f"http://127.0.0.1:{port_of(socket)}/mcp"
                finally:
                    server.should_exit = True
                    await serving


def build_forwarder(http: httpx.AsyncClient, key: str) -> Starlette:
    """Return an application that sends every request on with `key`, and the answer back as it comes."""

    async def forward(request: Request) -> Response:
        own_headers = ("host", "authorization", "content-length", "origin")
        headers: Mapping[str, Any] = {name: value for name, value in request.headers.items() if name not in own_headers}
        sent_on = http.build_request(
            request.method, "/mcp", headers={**headers, "Authorization": f"Bearer {key}"}, content=await request.body()
        )
        answer = await http.send(sent_on, stream=True)
        back = {name: value for name, value in answer.headers.items() if name in BACK}
        return StreamingResponse(answer.aiter_raw(), status_code=answer.status_code, headers=back)

    return Starlette(routes=[Route("/mcp", forward, methods=["GET", "POST", "DELETE"])])
