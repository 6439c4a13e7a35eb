"""A service on a real socket that answers as it is told to, and both clients of it, called alike."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from ferryman.client import AsyncClient, Client

Answer = Callable[[str], bytes]
AT_ONCE = (0.0,) * 5


class Blocking:
    """The blocking client, called as the other one is: each method runs in a thread, to its end."""

    def __init__(self, client: Client) -> None:
        self.client = client

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self.client, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            if name.startswith(("stream_", "iterate_")):
                return self._iterate(lambda: list(method(*args, **kwargs)))
            return asyncio.to_thread(method, *args, **kwargs)

        return call

    async def _iterate(self, collect: Callable[[], list[Any]]) -> AsyncIterator[Any]:
        for item in await asyncio.to_thread(collect):
            yield item


def connect(kind: str, url: str) -> Any:
    if kind == "AsyncClient":
        return AsyncClient(url, "fm_key", retry_waits_s=AT_ONCE)
    return Blocking(Client(url, "fm_key", retry_waits_s=AT_ONCE))


Served = Callable[[Answer], Awaitable[Any]]


@pytest.fixture(params=["Client", "AsyncClient"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def served(kind: str) -> AsyncIterator[Served]:
    """A client of a service that answers each request (its text) with the bytes it is told to, and hangs up."""
    servers: list[asyncio.Server] = []
    clients: list[Any] = []

    async def serve(answer: Answer) -> Any:
        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            request = await reader.readuntil(b"\r\n\r\n")
            writer.write(answer(request.decode()))
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(handle, "127.0.0.1")
        servers.append(server)
        clients.append(connect(kind, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"))
        return clients[-1]

    yield serve
    for client in clients:
        await client.close()
    for server in servers:
        server.close()
        await server.wait_closed()


def response(status: str, kind: str, body: str) -> bytes:
    head = f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\nconnection: close"
    return f"{head}\r\n\r\n{body}".encode()


def answer_json(value: Any, status: str = "200 OK") -> bytes:
    return response(status, "application/json", json.dumps(value))
