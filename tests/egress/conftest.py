"""What the tests of the way out share: a certificate authority, and servers on loopback that behave as told."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import IPv4Address, ip_address
from pathlib import Path

import httpcore
import pytest

from emulator.internet.authority import Authority
from ferryman.domain.http.address import Address
from ferryman.egress.gate import EgressGate
from ferryman.egress.pin import PORT, assert_peer
from ferryman.egress.stream import TlsStream
from ferryman.egress.tls import create_context
from ferryman.inmemory.log import RecordingLog
from ferryman.offload import TEXT, Budget

PUBLIC = "25.0.0.9"
Answer = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Names:
    """A name table whose every lookup is counted."""

    table: Mapping[str, Sequence[str]]
    lookups: list[str] = field(default_factory=list)

    async def resolve(self, host: str, *, owner: str) -> Sequence[Address]:
        self.lookups.append(host)
        if host not in self.table:
            raise OSError("unknown")
        return [ip_address(text) for text in self.table[host]]


@dataclass
class Dialer:
    """Maps public addresses to loopback ports, and remembers what it dialled."""

    ports: dict[Address, int] = field(default_factory=dict)
    dialled: list[Address] = field(default_factory=list)

    async def dial(self, address: Address, port: int, *, timeout_s: float | None) -> httpcore.AsyncNetworkStream:
        assert port == PORT
        self.dialled.append(address)
        if address not in self.ports:
            raise httpcore.ConnectError("nobody there")
        stream = await TlsStream.connect("127.0.0.1", self.ports[address], timeout_s)
        await assert_peer(stream, IPv4Address("127.0.0.1"), self.ports[address])
        return stream


@dataclass
class GateHarness:
    """A gate, its names, its dialer, its log, and the requests its servers received."""

    authority: Authority
    names: Names
    dialer: Dialer
    log: RecordingLog = field(default_factory=RecordingLog)
    requests: list[tuple[str, bytes]] = field(default_factory=list)
    server_names: list[str | None] = field(default_factory=list)
    """What each TLS client asked for by server name indication (SNI)."""

    def gate(self, *, within_s: float = 5, budget: Budget = TEXT) -> EgressGate:
        context = create_context(self.authority.path)
        return EgressGate(
            names=self.names,
            dial=self.dialer,
            tls=context,
            tracer=self.log,
            within_s=within_s,
            nonce=lambda: "n0",
            budget=budget,
        )

    @asynccontextmanager
    async def serve(
        self, certificate: str, answer: Answer, *, address: str = PUBLIC, pem: Path | None = None
    ) -> AsyncIterator[None]:
        """Yield a TLS server with a certificate for one name, or with the one in `pem`, at a public address."""

        handling: set[asyncio.Task[None] | None] = set()

        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            handling.add(asyncio.current_task())
            try:
                head = await reader.readuntil(b"\r\n\r\n")
                lines = head.lower().split(b"\r\n")
                lengths = [int(line.split(b":")[1]) for line in lines if line.startswith(b"content-length:")]
                body = await reader.readexactly(lengths[0]) if lengths else b""
                self.requests.append((certificate, head + body))
                await answer(head + body, writer)
                writer.close()
                await writer.wait_closed()
            except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                # a handler that ends as cancelled would be reported as a fault
                writer.transport.abort()

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pem or self.authority.issue(certificate))
        context.set_alpn_protocols(["h2", "http/1.1"])  # as many servers have it
        context.sni_callback = lambda _, name, __: self.server_names.append(name)
        server = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=context)
        self.dialer.ports[ip_address(address)] = server.sockets[0].getsockname()[1]
        try:
            yield
        finally:
            server.close()
            running = [task for task in handling if task is not None and not task.done()]
            for task in running:
                task.cancel()
            await asyncio.gather(*running)
            await wait_for_transports()


async def wait_for_transports() -> None:
    """Wait until closed transports have closed their sockets, layer by layer."""
    for _ in range(5):
        await asyncio.sleep(0)


def reply(
    body: bytes = b'{"ok":true}', *, status: str = "200 OK", headers: Sequence[str] = (), length: int | None = None
) -> Answer:
    """Return an answer with a body and a true length, or the one given."""
    lines = [f"HTTP/1.1 {status}", f"content-length: {len(body) if length is None else length}", *headers, "", ""]

    async def answer(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write("\r\n".join(lines).encode() + body)
        await writer.drain()

    return answer


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    folder: Path = tmp_path_factory.mktemp("authority")
    return Authority(folder)


@pytest.fixture
def harness(authority: Authority) -> GateHarness:
    names = Names({"api.news.test": [PUBLIC], "other.wild.test": [PUBLIC], "private.wild.test": ["10.0.0.1"]})
    return GateHarness(authority=authority, names=names, dialer=Dialer())
