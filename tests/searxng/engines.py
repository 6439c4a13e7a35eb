"""Engines for tests: the local cloud's own, and one that answers what a test gives it. Both are asked through ASGI."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from emulator.internet.routes import ReceivedRequest
from emulator.internet.search import MetaSearch
from ferryman.searxng.client import SearxngEngine

ENDPOINT = "http://10.1.2.3:8080/inside"
PIECE = 65_536


def ask_fixture(received: list[ReceivedRequest]) -> SearxngEngine:
    """Return a client of the local cloud's engine, which adds its requests to `received`."""
    app = MetaSearch(received.append, lambda: 0.0)
    return SearxngEngine("http://10.1.2.3:8080", transport=httpx.ASGITransport(app))


def ask_engine(
    content: bytes = b"", *, status: int = 200, headers: Mapping[str, str] | None = None, received: list[Request] | None = None
) -> SearxngEngine:
    """Return a client of an engine that answers every request with the same."""

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(content), PIECE):
            yield content[start : start + PIECE]

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if received is not None:
            received.append(Request(scope))
        response = StreamingResponse(pieces(), status, headers) if content else Response(b"", status, headers)
        await response(scope, receive, send)

    return SearxngEngine(ENDPOINT, transport=httpx.ASGITransport(app))


def write_rows(*rows: Any, **more: Any) -> bytes:
    """Return an answer with these rows."""
    return json.dumps({"query": "q", "results": list(rows), **more}).encode()


def write_row(number: int = 1, **changes: Any) -> dict[str, Any]:
    """Return a row as SearXNG writes it."""
    row = {"url": f"https://site.example/{number}", "title": f"Page {number}", "content": "A text.", "engine": "google"}
    return {**row, **changes}
