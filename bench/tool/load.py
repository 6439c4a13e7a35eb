"""The load: clients that each ask for the calls of one execution after the other, over connections that stay open."""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from bench.tool.journal import CALLS, find_owner


@dataclass(frozen=True, slots=True)
class Load:
    """What a run measured: seconds by the clock in all, and of each call."""

    clock_s: float
    calls_s: list[float]
    failed: list[str]
    """What was answered to calls that did not bring the upstream's answer."""

    @property
    def per_second(self) -> float:
        return len(self.calls_s) / self.clock_s

    @property
    def p99_ms(self) -> float:
        return statistics.quantiles(self.calls_s, n=100)[98] * 1000

    def __str__(self) -> str:
        failures = f", {len(self.failed)} of {len(self.calls_s)} failed" if self.failed else ""
        return f"{self.per_second:.0f} calls/s, p99 {self.p99_ms:.0f} ms{failures}"


def build_call(token: str, host: str) -> Callable[[str, int], bytes]:
    """Return what builds the request of a call as the orchestrator sends it."""

    def build(execution: str, seq: int) -> bytes:
        body = json.dumps({"execution": execution, "call": seq, "epoch": 1, **find_owner(execution)}).encode()
        head = f"POST / HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\n"
        return f"{head}content-length: {len(body)}\r\n\r\n".encode() + body

    return build


async def run_load(port: int, executions: Iterable[str], at_once: int, build: Callable[[str, int], bytes]) -> Load:
    """Ask for every call of `executions`, those of one in turn, `at_once` executions at any time."""
    waiting, calls_s, failed = iter(executions), list[float](), list[str]()

    async def work() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for execution in waiting:
            for seq in range(CALLS):
                began = time.perf_counter()
                writer.write(build(execution, seq))
                head = await reader.readuntil(b"\r\n\r\n")
                start = head.lower().find(b"content-length:")
                content = await reader.readexactly(int(head[start + 15 :].partition(b"\r\n")[0]))
                calls_s.append(time.perf_counter() - began)
                failed.append((head + content).decode()) if b"prices" not in content else None
        writer.close()

    began = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(at_once)))
    return Load(time.perf_counter() - began, calls_s, failed)
