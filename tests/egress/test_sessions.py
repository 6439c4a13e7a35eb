"""TLS handshakes are counted: a next connection of one execution to one host resumes, and no other does."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass, field, replace

import pytest

from ferryman.egress.connection import HostConnection
from ferryman.egress.sessions import SESSION_S, TlsSessions, frees_sessions
from tests.egress.conftest import PUBLIC, GateHarness
from tests.egress.test_reuse import GET, TO_B, B, KeepingServer, ReusingGate, reusing, serve

__all__ = ["reusing"]
CLOSING = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok"


@dataclass
class ClosingServer(KeepingServer):
    """A TLS server that ends each connection after an answer, and notes of each whether its handshake resumed a session."""

    resumed: list[bool] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.answer = lambda connection, request: CLOSING

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.resumed.append(writer.get_extra_info("ssl_object").session_reused)
        await super().handle(reader, writer)


@pytest.fixture
def resuming(reusing: ReusingGate) -> ReusingGate:
    """Return a gate that keeps sessions, whatever this version of Python does with them."""
    return replace(reusing, gate=replace(reusing.gate, sessions=TlsSessions(frees=True)))


async def test_an_execution_makes_one_whole_handshake_with_a_host(harness: GateHarness, resuming: ReusingGate) -> None:
    server = ClosingServer()
    async with serve(harness, server):
        statuses = [(await resuming.call()).response_status for _ in range(5)]
    assert (statuses, server.resumed) == ([200] * 5, [False, True, True, True, True])


async def test_no_session_is_resumed_for_another_execution_or_for_none(harness: GateHarness, resuming: ReusingGate) -> None:
    server = ClosingServer()
    async with serve(harness, server):
        for execution in ("e1", "e2", None, None, "e3"):
            await resuming.call(execution=execution)
    assert server.resumed == [False] * 5


async def test_no_session_is_resumed_with_another_host(harness: GateHarness, resuming: ReusingGate) -> None:
    server, other = ClosingServer(), ClosingServer()
    async with serve(harness, server):
        assert (await resuming.call(GET)).response_status == 200
        assert (await resuming.call(TO_B)).response_status is None  # at the same address: it proves nothing of its name
    async with serve(harness, other, host=B):
        assert (await resuming.call(TO_B)).response_status == 200
    assert (server.resumed, other.resumed) == ([False], [False])


async def test_a_session_is_offered_once(harness: GateHarness, resuming: ReusingGate) -> None:
    server = ClosingServer(together=asyncio.Barrier(2))
    async with serve(harness, server):
        for _ in range(2):
            await asyncio.gather(resuming.call(), resuming.call())
    assert (server.resumed[:2], sorted(server.resumed[2:])) == ([False, False], [False, True])


async def test_a_server_that_forgot_the_session_is_verified_again(harness: GateHarness, resuming: ReusingGate) -> None:
    first, second = ClosingServer(), ClosingServer()
    for server in (first, second):
        async with serve(harness, server):  # each with keys of its own for tickets
            assert (await resuming.call()).response_status == 200
    assert (first.resumed, second.resumed) == ([False], [False])


async def test_another_peer_that_proves_nothing_gets_no_request_whatever_session_it_is_offered(
    harness: GateHarness, resuming: ReusingGate
) -> None:
    honest, forged = ClosingServer(), ClosingServer()
    async with serve(harness, honest):
        assert (await resuming.call()).response_status == 200
    async with serve(harness, forged, host=B, address=PUBLIC):
        assert (await resuming.call()).response_status is None
    assert forged.requests == []


async def test_a_session_is_not_kept_beyond_its_time(harness: GateHarness, resuming: ReusingGate) -> None:
    gate = replace(resuming.gate, sessions=TlsSessions(clock=resuming.clock, frees=True))
    server = ClosingServer()
    async with serve(harness, server):
        await ReusingGate(gate, resuming.clock).call()
        resuming.clock.now += SESSION_S
        await ReusingGate(gate, resuming.clock).call()
    assert server.resumed == [False, False]


async def test_the_oldest_session_makes_room(harness: GateHarness, resuming: ReusingGate) -> None:
    gate = replace(resuming.gate, sessions=TlsSessions(most=1, frees=True))
    server = ClosingServer()
    async with serve(harness, server):
        for execution in ("e1", "e2", "e1", "e1"):
            await ReusingGate(gate, resuming.clock).call(execution=execution)
    assert (server.resumed, len(gate.sessions)) == ([False, False, False, True], 1)


async def test_a_session_is_of_its_own_context_alone(harness: GateHarness, resuming: ReusingGate) -> None:
    server = ClosingServer()
    async with serve(harness, server):
        await resuming.call()
        another = ssl.create_default_context(cafile=str(harness.authority.path))
        await ReusingGate(replace(resuming.gate, tls=another), resuming.clock).call()
    assert server.resumed == [False, False]


async def test_each_handshake_is_whole_where_python_does_not_free_sessions(harness: GateHarness, reusing: ReusingGate) -> None:
    gate = replace(reusing.gate, sessions=TlsSessions(frees=False))
    server = ClosingServer()
    async with serve(harness, server):
        for _ in range(3):
            await ReusingGate(gate, reusing.clock).call()
    assert (server.resumed, len(gate.sessions)) == ([False] * 3, 0)


class UnreadConnection(HostConnection):
    """A connection whose session nobody may read."""

    def __init__(self) -> None: ...

    @property
    def tls(self) -> ssl.SSLObject:
        raise AssertionError("its session was read")


def test_no_session_is_read_where_python_does_not_free_it() -> None:
    TlsSessions(frees=False).put(("e1", "api.news.test"), UnreadConnection())


@pytest.mark.parametrize(
    ("version", "frees"),
    [
        ((3, 11, 15), False),
        ((3, 12, 7), False),
        ((3, 12, 8), True),
        ((3, 13, 0), False),
        ((3, 13, 1), True),
        ((3, 14, 0), True),
    ],
)
def test_python_frees_sessions_since_its_correction(version: tuple[int, ...], frees: bool) -> None:
    assert frees_sessions(version) is frees
