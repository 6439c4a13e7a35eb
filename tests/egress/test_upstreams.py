"""Hostile upstreams, over real TLS: each gets one request, and the model reads one bounded result or one of our sentences."""

from __future__ import annotations

import asyncio
import ssl
import tracemalloc
from ipaddress import ip_address

import pytest

from ferryman.domain.calls.call import RESULT_CHARACTERS_MAX, ToolCallResult
from ferryman.domain.owners.plan import PRO
from ferryman.ports.gate import CallPolicy
from tests.egress.conftest import Answer, GateHarness, wait_for_transports
from tests.egress.plants import VALUES, credential, outbound, policy
from tests.egress.upstreams import DRIPS, FRAMED, LATE, UPSTREAMS, brotli_zeros, wide, zeros
from tests.figures import Tally

KEYS = {f"KEY_{number}": credential(value, f"KEY_{number}") for number, value in enumerate(VALUES.values())}
CASES = [(klass, name) for klass, answers in UPSTREAMS.items() for name in answers]
LIMIT_BYTES = 2 * PRO.response_bytes + 8_000_000
LENGTH_MAX = RESULT_CHARACTERS_MAX + 100


async def send(harness: GateHarness, answer: Answer, *, within_s: float = 60, **fields: object) -> ToolCallResult:
    async with harness.serve("api.news.test", answer):
        request = outbound(credential="KEY_0", **fields)
        return await harness.gate(within_s=within_s).send(request, CallPolicy(execution=policy(), credentials=KEYS))


def sound(harness: GateHarness, result: ToolCallResult) -> bool:
    """Return one request, no fault of ours, a result of a bounded length that is not called blocked."""
    return (
        len(harness.requests) == 1
        and not result.blocked
        and len(result.content) < LENGTH_MAX
        and harness.log.lines[-1][1]["fault"] is None
    )


@pytest.mark.parametrize(("klass", "name"), CASES)
async def test_whatever_an_upstream_does_is_one_bounded_result(
    klass: str, name: str, harness: GateHarness, tally: Tally
) -> None:
    answer, begins = UPSTREAMS[klass][name]
    result = await send(harness, answer)
    passed = sound(harness, result) and result.content.startswith(begins or ("Error: request failed: ", "<tool_response "))
    passed = passed and "evil" not in result.content and "surprise" not in result.content
    tally("upstreams", klass, passed)
    assert passed, result.content[:200]


async def start_worker(harness: GateHarness) -> None:
    """Have a worker process started that checks requests: its start is no part of a call's time."""
    await harness.gate().prepare(outbound(credential="KEY_0"), CallPolicy(execution=policy(), credentials=KEYS))


@pytest.mark.parametrize("name", DRIPS)
async def test_a_drip_ends_by_the_deadline(name: str, harness: GateHarness, tally: Tally) -> None:
    await start_worker(harness)
    result = await send(harness, DRIPS[name], within_s=1)
    passed = sound(harness, result) and result.content == f"{LATE} (1s)"
    tally("upstreams", "drips", passed)
    assert passed, result.content[:200]


async def test_an_upstream_that_reads_nothing_ends_by_the_deadline(harness: GateHarness, tally: Tally) -> None:
    begun, closed, over = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def deaf(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.pause_reading()  # type: ignore[attr-defined]  # a socket's transport
        begun.set()
        await closed.wait()
        writer.transport.abort()
        over.set()

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(harness.authority.issue("api.news.test"))
    server = await asyncio.start_server(deaf, "127.0.0.1", 0, ssl=context, limit=1_024)
    harness.dialer.ports[ip_address("25.0.0.9")] = server.sockets[0].getsockname()[1]
    request = outbound(credential="KEY_0", body={"a": "x " * 400_000})
    await start_worker(harness)
    result = await harness.gate(within_s=6).send(request, CallPolicy(execution=policy(), credentials=KEYS))
    closed.set()
    server.close()
    if begun.is_set():  # on a slow machine the time is up before there is a connection
        await over.wait()
    await wait_for_transports()
    tally("upstreams", "drips", result.content.startswith(LATE))
    assert (result.content, result.blocked) == (f"{LATE} (6s)", False)


@pytest.mark.parametrize("name", [name for name, (_, begins) in UPSTREAMS["bombs"].items() if begins.startswith(FRAMED)])
async def test_a_bomb_costs_no_more_than_twice_the_limit_and_eight_megabytes(
    name: str, harness: GateHarness, tally: Tally
) -> None:
    await send(harness, UPSTREAMS["two answers"]["in one record"][0])
    # what is packed once is packed before it counts
    zeros()
    brotli_zeros()
    wide()
    tracemalloc.start()
    try:
        await send(harness, UPSTREAMS["bombs"][name][0])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    tally("upstreams", "memory of a bomb", peak <= LIMIT_BYTES)
    assert peak <= LIMIT_BYTES


async def test_a_poisoned_connection_is_nobody_s_next_one(harness: GateHarness, tally: Tally) -> None:
    async with harness.serve("api.news.test", UPSTREAMS["two answers"]["in one record"][0]):
        gate = harness.gate()
        first, second = outbound(credential="KEY_0"), outbound(credential="KEY_1")
        calls = [
            gate.send(request, CallPolicy(execution=policy(), credentials=KEYS)) for request in (first, second, first, second)
        ]
        results = await asyncio.gather(*calls)
        results += [await gate.send(request, CallPolicy(execution=policy(), credentials=KEYS)) for request in (first, second)]
    passed = (
        all(">true<" in result.content and "evil" not in result.content for result in results) and len(harness.requests) == 6
    )
    tally("upstreams", "two answers", passed)
    assert passed
