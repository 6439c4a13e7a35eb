"""Executions per second on the whole local stack: five turns of one authenticated call and a last answer, ten credentials.

32 at once, of as many owners; API, queue, model, upstream and the client of this bench are on the same two cores.

Run with `python -m bench.stack [--executions 96] [--at-once 32]`. Every execution is started over the API; the orchestrator's
log says when one has ended, and the records are read afterwards. Processor time by process is what a busy machine leaves
comparable.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import secrets
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import Row, show
from bench.processes import measure_processes
from ferryman.client import AsyncClient
from ferryman.stack.admin import Admin
from tests.stack import create_client, start_stack

CALLS, CREDENTIALS, AT_ONCE, EXECUTIONS = 5, 10, 32, 96
BAR = 8.0
HOST = "api.coingecko.com"
SCRIPT = "bench"
LIFTED = {"like": "pro", "calls_per_minute": 100_000, "executions_running": 100, "executions_queued": 1_000}
TAIL_S = 0.05
REQUESTS = 8
"""Of all clients at once."""


@dataclass(frozen=True, slots=True)
class Load:
    """What a run took: seconds by the clock, and of processor time by process."""

    executions: int
    clock_s: float
    cpu_s: Mapping[str, float]

    @property
    def per_second(self) -> float:
        return self.executions / self.clock_s

    def describe(self) -> str:
        """Return the processor time of one execution, by process."""
        spent = {name: seconds * 1000 / self.executions for name, seconds in self.cpu_s.items()}
        parts = ", ".join(f"{name} {ms:.0f}" for name, ms in sorted(spent.items(), key=lambda item: -item[1]) if ms >= 0.5)
        return f"{sum(spent.values()):.0f} ms of processor time each: {parts}"


Starter = tuple[AsyncClient, str]
"""An owner's client, and the task that is started. What one owner starts together begins half a second apart, so that a burst
leaves room for others: the executions at once are of as many owners."""


async def serve_task(stack: Mapping[str, Any]) -> None:
    """Serve the upstream and the script."""
    async with Admin.from_note(stack) as admin:
        paths = [f"/api/v3/coins/{number}" for number in range(CALLS)]
        await admin.serve_routes(HOST, [{"method": "POST", "path": path, "json": _build_answer(path)} for path in paths])
        turns = [{"text": f"Coin {number}.", "tool_calls": [_build_call(path)]} for number, path in enumerate(paths)]
        await admin.set_script(SCRIPT, {"steps": [*turns, {"text": "Done."}]})


async def create_task(client: AsyncClient) -> str:
    """Return a task with credentials."""
    task = {
        "name": "bench",
        "task_prompt": "Look at the coins.",
        "model": f"scripted/{SCRIPT}",
        "tools": ["api_call"],
        "integrations": ["coingecko"],
    }
    created = str((await client.create_task(task))["task_id"])
    for number in range(CREDENTIALS):
        await client.set_credential(created, f"KEY_{number}", {"service": "coingecko", "value": secrets.token_hex(20)})
    return created


def _build_call(path: str) -> dict[str, Any]:
    body = {"note": "x" * 900, "items": list(range(20))}
    url = f"https://{HOST}{path}"
    return {"name": "api_call", "input": {"method": "POST", "url": url, "credential": "KEY_0", "body": body}}


def _build_answer(path: str) -> dict[str, Any]:
    return {"coin": path, "prices": [[day, day * 1.5] for day in range(60)], "note": "y" * 200}


async def follow_ends(log: Path) -> AsyncIterator[str]:
    """Yield the executions whose deliveries end, as the orchestrator logs them from now on."""
    with log.open() as file:
        file.seek(0, os.SEEK_END)
        rest = ""
        while True:
            *lines, rest = (rest + file.read()).split("\n")
            for line in lines:
                if '"delivery.ended"' in line:
                    yield str(json.loads(line)["execution"])
            await asyncio.sleep(TAIL_S)


async def run_load(stack: Mapping[str, Any], starters: Sequence[Starter], executions: int) -> Load:
    """Run executions, one of each starter at any time, and see that each completed. Raise AssertionError where one did not."""
    started: dict[str, Starter] = {}
    remaining, requests = iter(range(executions)), asyncio.Semaphore(REQUESTS)

    async def start(starter: Starter) -> None:
        if next(remaining, None) is None:
            return
        client, task = starter
        async with requests:
            started[str((await client.start_execution(task))["execution_id"])] = starter

    before, began, ended = measure_processes(stack["pid"]), time.perf_counter(), 0
    async with aclosing(follow_ends(Path(stack["data"]) / "logs/orchestrator.log")) as ends:
        await asyncio.gather(*map(start, starters))
        starting = set()
        async for execution in ends:
            ended += 1
            starting.add(asyncio.create_task(start(started[execution])))
            if ended >= executions:
                break
        await asyncio.gather(*starting)
    clock_s, after = time.perf_counter() - began, measure_processes(stack["pid"])
    ends = [await client.get_execution(execution) for execution, (client, _) in started.items()]
    failed = Counter([f"{end['status']}: {end.get('error')}" for end in ends if end["status"] != "completed"])
    assert not failed, f"{sum(failed.values())} of {executions} executions did not complete: {dict(failed)}"
    return Load(executions, clock_s, {name: seconds - before.get(name, 0.0) for name, seconds in after.items()})


@asynccontextmanager
async def open_starters(stack: Mapping[str, Any], count: int) -> AsyncIterator[list[Starter]]:
    """Yield so many owners' clients with their tasks, whose upstream and script are served."""
    await serve_task(stack)
    async with AsyncExitStack() as closing:
        clients = [await closing.enter_async_context(await create_client(stack)) for _ in range(count)]
        yield [(client, await create_task(client)) for client in clients]


async def measure(stack: Mapping[str, Any], executions: int, at_once: int) -> Load:
    """Run a load on a stack, after one that warms it."""
    async with open_starters(stack, at_once) as starters:
        await run_load(stack, starters, at_once)
        return await run_load(stack, starters, executions)


def run(executions: int, at_once: int) -> Load:
    """Run a load on a stack of its own."""
    variables = {"FERRYMAN_PLANS": json.dumps({"pro": LIFTED})}
    with (
        tempfile.TemporaryDirectory(prefix="ferryman-bench-") as folder,
        start_stack(Path(folder) / "data", **variables) as stack,
    ):
        return asyncio.run(measure(stack, executions, at_once))


def rows(executions: int = EXECUTIONS, at_once: int = AT_ONCE) -> Iterable[Row]:
    """Yield executions per second, with the processor time that they took."""
    load = run(executions, at_once)
    what = f"executions of {CALLS} calls per second, whole local stack on 2 cores, {at_once} at once"
    measured = f"{load.per_second:.1f} ({load.describe()})"
    yield Row(what, f">= {BAR:g}", measured, load.per_second >= BAR)


def parse(arguments: list[str] | None = None) -> Iterator[Row]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--executions", type=int, default=EXECUTIONS)
    parser.add_argument("--at-once", type=int, default=AT_ONCE)
    options = parser.parse_args(arguments)
    yield from rows(options.executions, options.at_once)


if __name__ == "__main__":
    sys.exit(show(parse()))
