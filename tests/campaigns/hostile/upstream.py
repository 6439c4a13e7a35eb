"""The upstream: every host of the scenarios on one TLS port, written by hand so that it can misbehave, and what it received."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qs

from emulator.internet.authority import Authority
from tests.campaigns.hostile.mcp_peer import HttpAnswer
from tests.campaigns.hostile.scenario import Answer

HEAD_BYTES_MAX = 256 * 1024
ENGINE = "searxng"
"""What the third port is called, which speaks plain HTTP: the search engine's. Its paths are the words of a query."""

STRANGER = "stranger.example"
"""The one name that the second port's certificate is for, whatever name is asked for."""


@dataclass(slots=True)
class ReceivedRequest:
    """One connection: the name it asked for (SNI), what was sent, byte for byte, and how long it stayed open."""

    host: str
    stranger: bool
    head: bytes = b""
    body: bytes = b""
    opened: float = field(default_factory=time.monotonic)
    seconds: float = 0.0

    @property
    def target(self) -> str:
        return self.head.partition(b"\r\n")[0].decode("latin-1").partition(" ")[2].rpartition(" ")[0]

    @property
    def headers(self) -> list[tuple[str, str]]:
        lines = self.head.decode("latin-1").split("\r\n")[1:]
        return [(name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines) if name]

    @property
    def bytes(self) -> bytes:
        return self.head + b"\r\n\r\n" + self.body


Rename = Callable[[str, tuple[str, ...]], Awaitable[None]]
"""Gives a host other addresses."""


async def _keep_name(host: str, addresses: tuple[str, ...]) -> None:
    raise LookupError(f"nobody can give {host} the addresses {addresses}")


class Upstream:
    """`async with Upstream(folder) as upstream`. `answers` are by the token a path begins with, then by its end."""

    def __init__(self, folder: Path) -> None:
        self._authority = Authority(folder)
        self.answers: dict[str, Mapping[str, Answer]] = {}
        self.seen: list[ReceivedRequest] = []
        self.port = self.stranger_port = self.engine_port = 0
        self.rename: Rename = _keep_name
        self._servers: list[asyncio.Server] = []

    async def __aenter__(self) -> Self:
        context = self._authority.context(lambda _: True)
        choose: Any = context.sni_callback

        def note_name(sock: Any, name: str | None, context: ssl.SSLContext) -> int | None:
            sock.asked_for = (name or "").lower()
            answer: int | None = choose(sock, name, context)
            return answer

        context.sni_callback = note_name
        stranger = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        stranger.load_cert_chain(self._authority.issue(STRANGER))
        for tls in (context, stranger, None):

            async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, tls: Any = tls) -> None:
                await self._serve(reader, writer, stranger=tls is stranger, default=ENGINE if tls is None else "")

            self._servers.append(await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls, limit=HEAD_BYTES_MAX))
        self.port, self.stranger_port, self.engine_port = (server.sockets[0].getsockname()[1] for server in self._servers)
        return self

    async def __aexit__(self, *_: object) -> None:
        for server in self._servers:
            server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, stranger: bool, default: str) -> None:
        seen = ReceivedRequest(getattr(writer.get_extra_info("ssl_object"), "asked_for", default), stranger)
        self.seen.append(seen)
        try:
            with contextlib.suppress(asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
                seen.head = (await reader.readuntil(b"\r\n\r\n"))[:-4]
                length = dict(seen.headers).get("content-length", "0")
                if length.isdigit() and int(length):
                    seen.body = await reader.readexactly(int(length))
                await self._answer(seen, reader, writer)
        finally:
            seen.seconds = time.monotonic() - seen.opened
            writer.transport.abort()

    async def _answer(self, seen: ReceivedRequest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        path, _, query = seen.target.partition("?")
        if seen.host == ENGINE:
            path = "/" + "/".join(parse_qs(query).get("q", [""])[0].split())
        # a host that has its scenario's name also answers where the path does not begin with it, as /robots.txt
        names = (path[1:].partition("/")[0], *seen.host.split("."))
        by_end = next((self.answers[name] for name in names if name in self.answers), {})
        answer = next(
            (value for end, value in by_end.items() if end and path.endswith(end)), by_end.get("", Answer(status=404))
        )
        if answer.peer is not None:
            answer = _take(answer.peer.respond(seen.body) if seen.head.startswith(b"POST") else HttpAnswer(status=405))
        for host, addresses in answer.renames.items():
            await self.rename(host, addresses)
        if answer.pause_s and not answer.bits:
            await asyncio.sleep(answer.pause_s)
        writer.write(answer.raw if answer.raw is not None else _encode(answer))
        await writer.drain()
        for bit in answer.bits:
            await asyncio.sleep(answer.pause_s)
            if writer.is_closing() or reader.at_eof():
                return
            writer.write(bit)
            await writer.drain()
        writer.close()
        # whatever else is sent on this connection is part of what was received
        seen.body += await asyncio.wait_for(reader.read(65_536), 1.0)
        await writer.wait_closed()


def _take(answer: HttpAnswer) -> Answer:
    """Return what a peer answers as it is written; with bits, its body is as long as it takes."""
    body = answer.body.encode("utf-8", "surrogatepass") if isinstance(answer.body, str) else answer.body
    if not answer.times:
        return Answer(status=answer.status, headers=answer.headers, body=body, pause_s=answer.pause_s, renames=answer.renames)
    lines = [f"HTTP/1.1 {answer.status} Answer", *(f"{name}: {value}" for name, value in answer.headers.items())]
    raw = "\r\n".join([*lines, "connection: close", "", ""]).encode("latin-1", "replace") + body
    return Answer(raw=raw, bits=(answer.bit,) * answer.times, pause_s=answer.pause_s, renames=answer.renames)


def _encode(answer: Answer) -> bytes:
    body = answer.body.encode("utf-8", "surrogatepass") if isinstance(answer.body, str) else answer.body
    headers = {"content-type": "application/json", **answer.headers}
    if headers.get("content-encoding") == "gzip" and not body.startswith(b"\x1f\x8b"):
        body = gzip.compress(body)
    lines = [f"HTTP/1.1 {answer.status} Answer", *(f"{name}: {value}" for name, value in headers.items())]
    head = "\r\n".join([*lines, f"content-length: {len(body)}", "connection: close", "", ""])
    return head.encode("latin-1", "replace") + body
