"""What a gate holds does not grow with the executions that it served, one call each: counted in objects and in bytes."""

from __future__ import annotations

import ctypes
import gc
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

from ferryman.egress.idle import IdleConnections
from ferryman.egress.sessions import TlsSessions
from ferryman.inmemory.log import NoLog
from tests.egress.conftest import GateHarness
from tests.egress.test_reuse import OK, KeepingServer, ReusingGate, serve
from tests.egress.test_sessions import CLOSING, reusing

__all__ = ["reusing"]
FIRST, MORE = 30, 100
WAITING_MAX = 4
"""Connections and sessions that a gate may keep here: as many as the first executions have."""

BYTES_MAX = 1_024  # of an execution: a session that is never freed has 6 KB


class MemoryInUse(ctypes.Structure):
    """`struct mallinfo2` of glibc, in bytes."""

    _fields_ = [(f"field_{number}", ctypes.c_size_t) for number in range(7)] + [
        ("in_use", ctypes.c_size_t),
        ("free", ctypes.c_size_t),
        ("top", ctypes.c_size_t),
    ]


def count_objects() -> Counter[str]:
    """Return how many objects of each type there are in this process."""
    gc.collect()
    return Counter(f"{type(tracked).__module__}.{type(tracked).__qualname__}" for tracked in gc.get_objects())


async def serve_executions(
    harness: GateHarness, reusing: ReusingGate, answer: bytes, sessions: TlsSessions, measure: Callable[[], None]
) -> None:
    """Measure after the first executions, and again after more."""
    gate = replace(reusing.gate, tracer=NoLog(), idle=IdleConnections(most=WAITING_MAX), sessions=sessions)
    server = KeepingServer(answer=lambda connection, request: answer)
    async with serve(harness, server):
        for number in range(FIRST + MORE):
            if number == FIRST:
                measure()
            await ReusingGate(gate, reusing.clock).call(execution=f"e{number}")
            for noted in (server.requests, server.writers, harness.names.lookups, harness.dialer.dialled):
                noted.clear()
        await gate.idle.aclose()
        measure()


@pytest.mark.parametrize("answer", [OK, CLOSING], ids=["kept", "closed"])
async def test_no_object_is_left_of_an_execution(harness: GateHarness, reusing: ReusingGate, answer: bytes) -> None:
    counts = list[Counter[str]]()
    await serve_executions(
        harness, reusing, answer, TlsSessions(most=WAITING_MAX, frees=True), lambda: counts.append(count_objects())
    )
    grown = {kind: count - counts[0][kind] for kind, count in counts[1].items()}
    assert {kind: count for kind, count in grown.items() if count >= MORE / 2} == {}


async def test_no_memory_is_left_of_an_execution(harness: GateHarness, reusing: ReusingGate) -> None:
    read = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if read is None:
        pytest.skip("this C library does not tell how much memory is in use")
    read.restype = MemoryInUse
    sizes = list[int]()

    def measure() -> None:
        gc.collect()
        sizes.append(read().in_use)

    await serve_executions(harness, reusing, CLOSING, TlsSessions(most=WAITING_MAX), measure)
    assert sizes[1] - sizes[0] < MORE * BYTES_MAX
