"""TLS handshakes are counted: a next connection of one execution to one host resumes, and no other does."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass, field, replace

from ferryman.egress.sessions import SESSION_S, TlsSessions
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


async def test_an_execution_makes_one_whole_handshake_with_a_host(harness: GateHarness, reusing: ReusingGate) -> None:
    server = ClosingServer()
    async with serve(harness, server):
        statuses = [(await reusing.call()).response_status for _ in range(5)]
    assert (statuses, server.resumed) == ([200] * 5, [False, True, True, True, True])


async def test_no_session_is_resumed_for_another_execution_or_for_none(harness: GateHarness, reusing: ReusingGate) -> None:
    server = ClosingServer()
    async with serve(harness, server):
        for execution in ("e1", "e2", None, None, "e3"):
            await reusing.call(execution=execution)
    assert server.resumed == [False] * 5


async def test_no_session_is_resumed_with_another_host(harness: GateHarness, reusing: ReusingGate) -> None:
    server, other = ClosingServer(), ClosingServer()
    async with serve(harness, server):
        assert (await reusing.call(GET)).response_status == 200
        assert (await reusing.call(TO_B)).response_status is None  # at the same address: it proves nothing of its name
    async with serve(harness, other, host=B):
        assert (await reusing.call(TO_B)).response_status == 200
    assert (server.resumed, other.resumed) == ([False], [False])


async def test_a_session_is_offered_once(harness: GateHarness, reusing: ReusingGate) -> None:
    server = ClosingServer(together=asyncio.Barrier(2))
    async with serve(harness, server):
        for _ in range(2):
            await asyncio.gather(reusing.call(), reusing.call())
    assert (server.resumed[:2], sorted(server.resumed[2:])) == ([False, False], [False, True])


async def test_a_server_that_forgot_the_session_is_verified_again(harness: GateHarness, reusing: ReusingGate) -> None:
    first, second = ClosingServer(), ClosingServer()
    for server in (first, second):
        async with serve(harness, server):  # each with keys of its own for tickets
            assert (await reusing.call()).response_status == 200
    assert (first.resumed, second.resumed) == ([False], [False])


async def test_another_peer_that_proves_nothing_gets_no_request_whatever_session_it_is_offered(
    harness: GateHarness, reusing: ReusingGate
) -> None:
    honest, forged = ClosingServer(), ClosingServer()
    async with serve(harness, honest):
        assert (await reusing.call()).response_status == 200
    async with serve(harness, forged, host=B, address=PUBLIC):
        assert (await reusing.call()).response_status is None
    assert forged.requests == []


async def test_a_session_is_not_kept_beyond_its_time(harness: GateHarness, reusing: ReusingGate) -> None:
    gate = replace(reusing.gate, sessions=TlsSessions(clock=reusing.clock))
    server = ClosingServer()
    async with serve(harness, server):
        await ReusingGate(gate, reusing.clock).call()
        reusing.clock.now += SESSION_S
        await ReusingGate(gate, reusing.clock).call()
    assert server.resumed == [False, False]


async def test_the_oldest_session_makes_room(harness: GateHarness, reusing: ReusingGate) -> None:
    gate = replace(reusing.gate, sessions=TlsSessions(most=1))
    server = ClosingServer()
    async with serve(harness, server):
        for execution in ("e1", "e2", "e1", "e1"):
            await ReusingGate(gate, reusing.clock).call(execution=execution)
    assert (server.resumed, len(gate.sessions)) == ([False, False, False, True], 1)


async def test_a_session_is_of_its_own_context_alone(harness: GateHarness, reusing: ReusingGate) -> None:
    server = ClosingServer()
    async with serve(harness, server):
        await reusing.call()
        another = ssl.create_default_context(cafile=str(harness.authority.path))
        await ReusingGate(replace(reusing.gate, tls=another), reusing.clock).call()
    assert server.resumed == [False, False]
