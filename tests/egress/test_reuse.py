"""Connections are used again within one execution and host alone, and no request that must not is sent twice."""

from __future__ import annotations

import asyncio
import gzip
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from ipaddress import ip_address

import pytest

from ferryman.domain.calls.call import ToolCallResult, is_outcome_unknown
from ferryman.domain.http.request import Method, OutboundRequest
from ferryman.domain.tools.tool import Repeatable
from ferryman.egress import idle
from ferryman.egress.gate import EgressGate
from ferryman.egress.idle import IDLE_S, UNREPEATABLE_IDLE_S, IdleConnections
from ferryman.ports.gate import CallPolicy
from tests.egress.conftest import PUBLIC, GateHarness, wait_for_transports
from tests.egress.plants import VALUES, credential, outbound, policy

A, B = "api.news.test", "other.wild.test"
KEYS = {
    "NEWS_KEY": credential(VALUES["prefixed"], hosts=(A,)),
    "OTHER": credential(VALUES["github"], "OTHER", hosts=("*.wild.test",)),
}
CLOSING_S = 0.2
"""For how long a server waits for its client to close the connection, too, which one that keeps it idle does not."""

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
GET = outbound(method=Method.GET, body=None)
POST = outbound()
KEYED = outbound(idempotency=("Idempotency-Key", "e-0"))
TO_B = outbound(method=Method.GET, body=None, url=f"https://{B}/b", credential="OTHER")


@dataclass
class KeepingServer:
    """A TLS server that answers many requests on each connection; `answer` is given which of the connection it is."""

    answer: Callable[[int, int], bytes | None] = lambda connection, request: OK
    together: asyncio.Barrier | None = None
    requests: list[list[bytes]] = field(default_factory=list)
    """By connection."""
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    """Whether a client has ended a connection."""
    writers: list[asyncio.StreamWriter] = field(default_factory=list)

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number, received = len(self.requests), list[bytes]()
        self.requests.append(received)
        self.writers.append(writer)
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
                received.append(head + (await reader.readexactly(int(lengths[0].split(b":")[1])) if lengths else b""))
                if self.together is not None:
                    await self.together.wait()
                response = self.answer(number, len(received))
                if response is None:
                    break
                writer.write(response)
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            self.ended.set()
        finally:
            writer.close()

    @property
    def counts(self) -> list[int]:
        """How many requests came on each connection."""
        return [len(received) for received in self.requests]


@dataclass
class Clock:
    """Seconds that pass when a test says so."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class ReusingGate:
    """A gate that keeps connections, and the clock that they age by."""

    gate: EgressGate
    clock: Clock

    async def call(self, request: OutboundRequest = GET, execution: str | None = "e1") -> ToolCallResult:
        call = CallPolicy(execution=policy(), credentials=KEYS, execution_id=execution)
        return await self.gate.send(request, call)


@pytest.fixture
async def reusing(harness: GateHarness) -> AsyncIterator[ReusingGate]:
    clock = Clock()
    gate = replace(harness.gate(), idle=IdleConnections(most=3, clock=clock))
    yield ReusingGate(gate, clock)
    await gate.idle.aclose()
    await wait_for_transports()


@asynccontextmanager
async def serve(harness: GateHarness, server: KeepingServer, host: str = A, address: str = PUBLIC) -> AsyncIterator[None]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(harness.authority.issue(host))
    listening = await asyncio.start_server(server.handle, "127.0.0.1", 0, ssl=context, ssl_shutdown_timeout=CLOSING_S)
    harness.dialer.ports[ip_address(address)] = listening.sockets[0].getsockname()[1]
    try:
        yield
    finally:
        listening.close()
        for writer in server.writers:
            writer.transport.abort()
        await wait_for_transports()


async def test_calls_of_one_execution_to_one_host_share_a_connection(harness: GateHarness, reusing: ReusingGate) -> None:
    server = KeepingServer()
    async with serve(harness, server):
        statuses = [(await reusing.call(request)).response_status for request in (GET, POST, KEYED, GET)]
    assert (statuses, server.counts) == ([200] * 4, [4])
    assert (harness.names.lookups, harness.dialer.dialled) == ([A], [ip_address(PUBLIC)])


async def test_another_execution_has_a_connection_of_its_own(harness: GateHarness, reusing: ReusingGate) -> None:
    server = KeepingServer()
    async with serve(harness, server):
        for execution in ("e1", "e2", "e1", "e2"):
            await reusing.call(execution=execution)
    assert server.counts == [2, 2]


async def test_another_host_at_the_same_address_gets_nothing(harness: GateHarness, reusing: ReusingGate) -> None:
    server = KeepingServer()
    async with serve(harness, server):
        assert (await reusing.call(GET)).response_status == 200
        assert (await reusing.call(TO_B)).response_status is None
        assert (await reusing.call(GET)).response_status == 200
    assert server.counts[0] == 2
    assert not any(b"wild.test" in request for received in server.requests for request in received)


async def test_a_call_of_no_execution_shares_nothing_and_says_so(harness: GateHarness, reusing: ReusingGate) -> None:
    server = KeepingServer()
    async with serve(harness, server):
        for _ in range(2):
            await reusing.call(execution=None)
    assert server.counts == [1, 1]
    assert all(b"\r\nconnection: close" in received[0].lower() for received in server.requests)
    assert len(reusing.gate.idle) == 0


async def test_calls_at_the_same_time_never_share_one(harness: GateHarness, reusing: ReusingGate) -> None:
    server = KeepingServer(together=asyncio.Barrier(3))  # nobody is answered before all have asked
    async with serve(harness, server):
        for _ in range(2):
            await asyncio.gather(*(reusing.call() for _ in range(3)))
    assert server.counts == [2, 2, 2]


@pytest.mark.parametrize(
    "response",
    [
        OK.replace(b"content-length", b"connection: close\r\ncontent-length"),
        OK.replace(b"HTTP/1.1", b"HTTP/1.0"),
        OK + b"evil",
        OK + OK,
        OK.replace(b"content-length", b"keep-alive: timeout=1\r\ncontent-length"),
    ],
    ids=["closes", "HTTP/1.0", "more bytes", "two answers", "closes soon"],
)
async def test_a_connection_that_may_not_be_used_again_is_not(
    response: bytes, harness: GateHarness, reusing: ReusingGate
) -> None:
    server = KeepingServer(answer=lambda *_: response)
    async with serve(harness, server):
        contents = [(await reusing.call()).content for _ in range(2)]
    assert server.counts == [1, 1]
    assert all(content.endswith(">ok</tool_response>") for content in contents)


async def test_a_connection_whose_response_was_not_read_to_its_end_is_closed(
    harness: GateHarness, reusing: ReusingGate
) -> None:
    server = KeepingServer(answer=lambda *_: b"HTTP/1.1 200 OK\r\ncontent-length: 9999999\r\n\r\n" + b"x" * 3_000_000)
    async with serve(harness, server):
        await reusing.call()
        assert len(reusing.gate.idle) == 0


async def test_a_packed_response_leaves_the_connection_usable(harness: GateHarness, reusing: ReusingGate) -> None:
    packed = gzip.compress(b"ok")
    head = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n"
    response = head + b"%x\r\n" % len(packed) + packed + b"\r\n0\r\n\r\n"
    server = KeepingServer(answer=lambda *_: response)
    async with serve(harness, server):
        for _ in range(2):
            assert (await reusing.call()).content.endswith(">ok</tool_response>")
    assert server.counts == [2]


@pytest.mark.parametrize("request_", [GET, POST, KEYED], ids=["safe", "unsafe", "with a key"])
async def test_a_connection_that_its_peer_closed_meanwhile_is_replaced(
    request_: OutboundRequest, harness: GateHarness, reusing: ReusingGate
) -> None:
    server = KeepingServer()
    async with serve(harness, server):
        await reusing.call()
        server.writers[0].close()
        with suppress(TimeoutError):
            await server.writers[0].wait_closed()
        assert (await reusing.call(request_)).response_status == 200
    assert server.counts == [1, 1]


async def test_what_a_peer_sends_unasked_is_no_answer_to_the_next_request(harness: GateHarness, reusing: ReusingGate) -> None:
    server = KeepingServer()
    async with serve(harness, server):
        await reusing.call()
        server.writers[0].write(OK.replace(b"\r\n\r\nok", b"\r\n\r\nno"))
        await server.writers[0].drain()
        await wait_for_transports()
        content = (await reusing.call()).content
    assert content.endswith(">ok</tool_response>")


def hang_up_on_the_second(connection: int, request: int) -> bytes | None:
    return None if request == 2 else OK


@pytest.mark.parametrize("request_", [GET, KEYED], ids=["safe", "with a key"])
async def test_a_request_that_may_be_repeated_is_sent_again_by_a_fresh_connection(
    request_: OutboundRequest, harness: GateHarness, reusing: ReusingGate
) -> None:
    server = KeepingServer(answer=hang_up_on_the_second)
    async with serve(harness, server):
        await reusing.call()
        assert (await reusing.call(request_)).response_status == 200
    assert server.counts == [2, 1]


async def test_a_request_that_may_not_be_repeated_is_in_doubt_and_was_sent_once(
    harness: GateHarness, reusing: ReusingGate
) -> None:
    server = KeepingServer(answer=hang_up_on_the_second)
    async with serve(harness, server):
        await reusing.call()
        result = await reusing.call(POST)
    assert (server.counts, result.blocked, is_outcome_unknown(result, Repeatable.KEYED)) == ([2], False, True)


async def test_a_response_that_breaks_off_is_asked_for_once(harness: GateHarness, reusing: ReusingGate) -> None:
    def break_off(connection: int, request: int) -> bytes | None:
        return OK if request == 1 else OK.replace(b": 2", b": 3") + b"" if request == 2 else None

    server = KeepingServer(answer=break_off)
    async with serve(harness, server):
        await reusing.call()
        calling = asyncio.ensure_future(reusing.call())
        while server.counts != [2]:  # noqa: ASYNC110 - what the server received
            await asyncio.sleep(0)
        server.writers[0].close()
        result = await calling
    assert (result.content, server.counts) == ("Error: request failed: the answer was not valid HTTP", [2])


async def test_what_may_not_be_repeated_is_sent_by_a_connection_that_was_just_used_or_a_fresh_one(
    harness: GateHarness, reusing: ReusingGate
) -> None:
    server = KeepingServer()
    async with serve(harness, server):
        await reusing.call()
        reusing.clock.now = UNREPEATABLE_IDLE_S
        await reusing.call(POST)
        assert server.counts == [1, 1]
        await reusing.call(POST)
        assert server.counts == [1, 2]


async def test_a_connection_is_not_used_after_its_time(harness: GateHarness, reusing: ReusingGate) -> None:
    server = KeepingServer()
    async with serve(harness, server):
        await reusing.call()
        reusing.clock.now = IDLE_S - 0.1
        await reusing.call()
        assert server.counts == [2]
        reusing.clock.now += IDLE_S
        await reusing.call()
        assert server.counts == [2, 1]


async def test_an_idle_connection_is_closed_though_nobody_asks_for_it(
    harness: GateHarness, reusing: ReusingGate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(idle, "IDLE_S", 0.001)
    server = KeepingServer()
    async with serve(harness, server):
        await reusing.call()
        async with asyncio.timeout(5):
            await server.ended.wait()
    assert len(reusing.gate.idle) == 0


async def test_the_oldest_idle_connection_makes_room(harness: GateHarness, reusing: ReusingGate) -> None:
    server = KeepingServer()
    async with serve(harness, server):
        for number in range(5):
            await reusing.call(execution=f"e{number}")
        assert len(reusing.gate.idle) == 3
        for number in (4, 3, 2, 0):
            await reusing.call(execution=f"e{number}")
    assert server.counts == [1, 1, 2, 2, 2, 1]


async def test_a_peer_that_does_not_answer_again_ends_by_the_deadline_and_is_left(
    harness: GateHarness, reusing: ReusingGate
) -> None:
    def be_silent(connection: int, request: int) -> bytes | None:
        return OK if request == 1 else b""

    server = KeepingServer(answer=be_silent)
    async with serve(harness, server):
        await reusing.call()
        result = await ReusingGate(replace(reusing.gate, within_s=0.3), reusing.clock).call()
        assert len(reusing.gate.idle) == 0
    assert (result.content, result.blocked) == ("Error: request timed out (0.3s)", False)
