"""Servers for the tests of the client: our own engine, and one that answers as it is written."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.types import ASGIApp

from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.mcp_revisions import MODERN
from ferryman.ports.gate import ResponseReader
from ferryman.serving.mcp import McpServer, respond
from ferryman.tools.mcp.protocol import HttpMessage, McpClient

JSON_HEADERS = (("content-type", "application/json"),)
STREAM_HEADERS = (("content-type", "text/event-stream"),)


async def deliver(
    status: int, headers: Sequence[tuple[str, str]], parts: AsyncIterator[bytes], reader: ResponseReader, bytes_max: int
) -> bool:
    """Hand a response to `reader` as the gate does; tell whether it was within `bytes_max`."""
    room = bytes_max
    if not await reader.begin(status, headers):
        return True
    async with aclosing(parts) as body:  # type: ignore[type-var] # they are generators
        async for part in body:
            if not await reader.feed(part[:room]):
                return True
            room -= len(part)
            if room < 0:
                return False
    return True


@dataclass
class EngineTransport:
    """Sends messages to an ASGI application in this process, whose answers are read while it writes them."""

    app: ASGIApp
    messages: list[HttpMessage] = field(default_factory=list)

    @classmethod
    def to(cls, server: McpServer) -> EngineTransport:
        """Return the transport to our own engine."""

        async def app(scope: Any, receive: Any, send: Any) -> None:
            response = await respond(server, Request(scope, receive, send))
            await response(scope, receive, send)

        return cls(app)

    async def exchange(self, message: HttpMessage, reader: ResponseReader) -> bool:
        self.messages.append(message)
        body = b"" if message.body is None else json.dumps(message.body).encode()
        inbox: list[dict[str, Any]] = [{"type": "http.request", "body": body, "more_body": False}]
        outbox: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        leaving = asyncio.Event()

        async def receive() -> dict[str, Any]:
            if inbox:
                return inbox.pop()
            await leaving.wait()
            return {"type": "http.disconnect"}

        scope = {"type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1", "root_path": ""}
        scope |= {"scheme": "http", "path": "/mcp", "raw_path": b"/mcp", "query_string": b"", "method": message.method.value}
        scope |= {"client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80)}
        sent = {"content-type": "application/json", "host": "127.0.0.1:80", **message.headers}
        scope["headers"] = [(name.lower().encode(), value.encode("latin-1")) for name, value in sent.items()]
        serving = asyncio.create_task(self.app(scope, receive, outbox.put))  # type: ignore[arg-type]
        try:
            start = await outbox.get()
            headers = [(name.decode(), value.decode()) for name, value in start["headers"]]
            return await deliver(start["status"], headers, self._read(outbox), reader, message.bytes_max)
        finally:
            leaving.set()
            await serving

    @staticmethod
    async def _read(outbox: asyncio.Queue[dict[str, Any]]) -> AsyncIterator[bytes]:
        while True:
            event = await outbox.get()
            if event.get("body"):
                yield event["body"]
            if not event.get("more_body"):
                return


BROKEN = object()
"""In place of a part: the connection breaks."""


@dataclass
class WrittenResponse:
    """A response as it is written: its status, headers and parts."""

    parts: Sequence[Any] = ()
    headers: Sequence[tuple[str, str]] = JSON_HEADERS
    status: int = 200


Write = Callable[[HttpMessage], WrittenResponse]


@dataclass
class WrittenServer:
    """A server that answers each message with what `write` returns for it; it notes them all."""

    write: Write
    messages: list[HttpMessage] = field(default_factory=list)
    unread: list[int] = field(default_factory=list)
    """How many parts of each response were not read."""

    async def exchange(self, message: HttpMessage, reader: ResponseReader) -> bool:
        self.messages.append(message)
        response = self.write(message)
        remaining = len(response.parts)

        async def read() -> AsyncIterator[bytes]:
            nonlocal remaining
            for part in response.parts:
                remaining -= 1
                if part is BROKEN:
                    raise CallRefusedError(refusal.report_failure("the connection broke"))
                yield part

        try:
            return await deliver(response.status, response.headers, read(), reader, message.bytes_max)
        finally:
            self.unread.append(remaining)

    @property
    def methods(self) -> list[str]:
        """The methods of the messages, HTTP's where there is no body, `response` for a response."""
        bodies = [(message.method.value, message.body) for message in self.messages]
        return [verb if body is None else body.get("method", "response") for verb, body in bodies]


def write_json(message: Any) -> bytes:
    return json.dumps(message).encode()


def write_event(message: Any, *, id: str | None = None) -> bytes:  # noqa: A002 - the protocol's word
    lines = [] if id is None else [f"id: {id}"]
    return "\n".join([*lines, f"data: {json.dumps(message)}", "", ""]).encode()


def write_result(request: HttpMessage, result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer to a request."""
    assert request.body is not None
    return {"jsonrpc": "2.0", "id": request.body["id"], "result": result}


def reply(result: Mapping[str, Any]) -> Write:
    """Return what answers every request with `result`."""
    return lambda request: WrittenResponse([write_json(write_result(request, result))])


def stream(*parts: Callable[[HttpMessage], Any]) -> Write:
    """Return what answers every request with an event stream."""
    return lambda request: WrittenResponse([part(request) for part in parts], STREAM_HEADERS)


def make_client(transport: Any, **how: Any) -> McpClient:
    """Return a client that knows the server's revision, unless another is named."""
    return McpClient(transport, owner="o", **{"revision": MODERN, **how})
