"""The upstream of all tenants: one TLS server for two names that keeps connections open, sets cookies and repeats keys."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from emulator.internet.authority import Authority

HOSTS = ("api.linear.app", "api.todoist.com")


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """A request as it was received, with the number of its connection; `tenant` is the first part of its path."""

    connection: int
    tenant: str
    content: bytes


@dataclass
class Upstream:
    """The requests that it received; `answers` and `cookies` hold what each tenant's requests are answered with."""

    port: int = 0
    answers: dict[str, str] = field(default_factory=dict)
    cookies: dict[str, str] = field(default_factory=dict)
    seen: list[ReceivedRequest] = field(default_factory=list)
    connections: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection, as many requests as the peer sends."""
        self.connections += 1
        number = self.connections
        # it is cancelled at the end of all, and asyncio's streams would complain of that at length
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line)
                content = head + await reader.readexactly(int(fields.get(b"content-length", b"0")))
                tenant = head.split(b" ", 2)[1].split(b"/")[1].decode()
                self.seen.append(ReceivedRequest(number, tenant, content))
                writer.write(self._answer(tenant, head))
                await writer.drain()
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()

    def _answer(self, tenant: str, head: bytes) -> bytes:
        body = json.dumps({"answer": self.answers.get(tenant, "?"), "you": head.decode("latin-1")}).encode()
        cookie = self.cookies.get(tenant, "?")
        lines = ["HTTP/1.1 200 OK", "content-type: application/json", f"content-length: {len(body)}", "connection: keep-alive"]
        return "\r\n".join([*lines, f"set-cookie: sid={cookie}; Path=/", "", ""]).encode() + body


@asynccontextmanager
async def serve_upstream(data: Path) -> AsyncIterator[Upstream]:
    """Serve an upstream on a port of its own, certified by the authority of the stack in `data`, which its functions trust."""
    authority, upstream = Authority(data / "internet"), Upstream()
    context = authority.context(HOSTS.__contains__)
    server = await asyncio.start_server(upstream.serve, "127.0.0.1", 0, ssl=context)
    upstream.port = server.sockets[0].getsockname()[1]
    try:
        yield upstream
    finally:
        server.close()
