"""Whether a request has begun to be sent is known before its first byte leaves, and not earlier."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_address

from ferryman.egress.gate import EgressGate
from ferryman.ports.gate import CallPolicy
from tests.egress.conftest import PUBLIC, GateHarness, wait_for_transports
from tests.egress.plants import VALUES, credential, outbound, policy

CREDENTIALS = {"NEWS_KEY": credential(VALUES["prefixed"])}


def build_call() -> CallPolicy:
    return CallPolicy(execution=policy(), credentials=CREDENTIALS)


@asynccontextmanager
async def sending(gate: EgressGate, call: CallPolicy) -> AsyncIterator[None]:
    """Send a call while inside, which is broken off at the end."""
    task = asyncio.ensure_future(gate.send(outbound(), call))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})
        assert task.cancelled()
        await wait_for_transports()


async def test_a_name_that_is_looked_up_is_no_beginning(harness: GateHarness) -> None:
    lookup = asyncio.Event()

    async def resolve(host: str, *, owner: str) -> list[object]:
        lookup.set()
        await asyncio.Event().wait()
        return []

    harness.names.resolve = resolve  # type: ignore[method-assign,assignment]
    call = build_call()
    async with sending(harness.gate(within_s=600), call):
        await lookup.wait()
    assert not call.sending.begun


async def test_a_handshake_is_no_beginning(harness: GateHarness) -> None:
    hello = asyncio.Event()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(5)  # of the client's first record of TLS
        hello.set()
        await reader.read()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    harness.dialer.ports[ip_address(PUBLIC)] = server.sockets[0].getsockname()[1]
    call = build_call()
    async with sending(harness.gate(within_s=600), call):
        await hello.wait()
    assert not call.sending.begun
    server.close()
    await server.wait_closed()


async def test_a_connection_that_is_refused_is_no_beginning(harness: GateHarness) -> None:
    call = build_call()  # nobody is at the address
    result = await harness.gate().send(outbound(), call)
    assert (result.response_status, call.sending.begun) == (None, False)


async def test_what_a_host_has_received_has_begun(harness: GateHarness) -> None:
    received = asyncio.Event()

    async def answer(request: bytes, writer: asyncio.StreamWriter) -> None:
        received.set()
        await asyncio.Event().wait()

    call = build_call()
    async with harness.serve("api.news.test", answer), sending(harness.gate(within_s=600), call):
        await received.wait()
    assert call.sending.begun


async def test_a_request_on_an_idle_connection_has_begun(harness: GateHarness) -> None:
    async def answer(request: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
        await writer.drain()

    gate, first = harness.gate(), CallPolicy(execution=policy(), credentials=CREDENTIALS, execution_id="e")
    second = CallPolicy(execution=policy(), credentials=CREDENTIALS, execution_id="e")
    assert (first.sending.begun, second.sending.begun) == (False, False)
    async with harness.serve("api.news.test", answer):
        await gate.send(outbound(), first)
        await gate.send(outbound(), second)
    await gate.idle.aclose()
    assert (first.sending.begun, second.sending.begun) == (True, True)
