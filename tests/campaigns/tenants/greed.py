"""Greed: owners who work, with and without one beside them who takes all there is, in turns on one stack.

What is compared is how long the others' executions take, from their creation to their end, as their records say.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import httpx

from ferryman.client import ApiRefusedError, ApiUnreachableError, AsyncClient
from ferryman.stack.admin import Admin
from tests.campaigns.tenants.tenants import Tenant, create_tenant, prepare
from tests.campaigns.tenants.upstream import Upstream
from tests.stack import create_client

BAR = 1.3
"""How many times as long the others' executions may take beside a greedy owner, at the 95th percentile."""

EVERY_S = 2.0
"""Each owner who works starts an execution in so many seconds, whether the one before has ended or not: what is slow is not
made up for by asking less."""

POLL_S = 0.25
SLOW_HOST, SLOW_S = "api.coingecko.com", 3.0
SLOW_NAMES, LOOKUP_S = [f"us{number}.api.mailchimp.com" for number in range(24)], 8.0
"""Names that take longer to look up than a call waits for it."""

STARTS_A_SECOND = 10
STREAMS, IMPORTS = 30, 2
SPEC = {
    "openapi": "3.1.0",
    "info": {"title": "greed", "version": "1"},
    "servers": [{"url": f"https://{SLOW_HOST}"}],
    "paths": {f"/{number}": {"get": {"operationId": f"look{number}", "responses": {}}} for number in range(40)},
}


@dataclass
class Comparison:
    """How long executions took, in seconds, `alone` and `beside` a greedy owner; what became of that owner's requests."""

    alone: list[float] = field(default_factory=list)
    beside: list[float] = field(default_factory=list)
    greedy: Counter[str] = field(default_factory=Counter)

    @property
    def ratio(self) -> float:
        return percentile(self.beside, 95) / percentile(self.alone, 95)

    def lines(self) -> list[str]:
        """Return the comparison in words, the last line being whether the bar holds."""
        lines = [f"the greedy owner: {', '.join(f'{count} {what}' for what, count in sorted(self.greedy.items()))}"]
        for name, values in (("alone", self.alone), ("beside a greedy owner", self.beside)):
            half, most = percentile(values, 50), percentile(values, 95)
            lines.append(f"{len(values)} executions {name}: median {half:.2f} s, p95 {most:.2f} s")
        return [*lines, f"p95 beside a greedy owner is {self.ratio:.2f} times what it is alone; at most {BAR:g} may be"]


def percentile(values: Sequence[float], percent: int) -> float:
    """Return the nearest-rank percentile."""
    return sorted(values)[max(0, math.ceil(len(values) * percent / 100) - 1)]


async def compare(
    stack: Mapping[str, Any], admin: Admin, upstream: Upstream, *, owners: int, windows: int, window_s: float
) -> Comparison:
    """Measure so many windows of each kind in turns; the order of the two changes each time."""
    comparison = Comparison()
    await admin.serve_routes(
        SLOW_HOST, [{"method": "*", "path": f"/{number}", "json": {}, "delay_s": SLOW_S} for number in range(9)]
    )
    for host in SLOW_NAMES:
        await admin.put_host(host, {"routes": [], "lookup_s": LOOKUP_S})
    workers = [create_tenant(await create_client(stack), number) for number in range(owners)]
    for tenant in workers:
        await prepare(tenant, admin, upstream)
    await _work(workers, 3.0, [])  # what is slow once is not counted
    for number in range(2 * windows):
        durations: list[float] = []
        if number % 4 in (0, 3):
            await _work(workers, window_s, durations)
            comparison.alone += durations
        else:
            comparison.greedy += await _beside(stack, admin, workers, window_s, durations)
            comparison.beside += durations
        kind = "alone" if number % 4 in (0, 3) else "beside a greedy owner"
        print(
            f"window {number + 1} of {2 * windows}, {kind}: {len(durations)} executions, p95 {percentile(durations, 95):.2f} s",
            flush=True,
        )
    for tenant in workers:
        await tenant.client.close()
    return comparison


async def _work(workers: Sequence[Tenant], seconds: float, durations: list[float]) -> None:
    """Start executions of every owner for so many seconds, and await each."""
    runs: list[asyncio.Task[None]] = []
    for _ in range(round(seconds / EVERY_S)):
        for tenant in workers:
            runs.append(asyncio.create_task(_run(tenant, durations)))
            await asyncio.sleep(EVERY_S / len(workers))
    await asyncio.gather(*runs)


async def _run(tenant: Tenant, durations: list[float]) -> None:
    execution = (await tenant.client.start_execution(tenant.task, tenant.prompt))["execution_id"]
    record = await tenant.client.get_execution(execution)
    while record["completed_at"] is None:
        await asyncio.sleep(POLL_S)
        record = await tenant.client.get_execution(execution)
    assert record["status"] == "completed", record["error"]
    ends, began = (datetime.fromisoformat(record[name]) for name in ("completed_at", "created_at"))
    durations.append((ends - began).total_seconds())


async def _beside(
    stack: Mapping[str, Any], admin: Admin, workers: Sequence[Tenant], seconds: float, durations: list[float]
) -> Counter[str]:
    """Measure a window beside a new greedy owner, end all its executions, and return what became of its requests."""
    outcomes: Counter[str] = Counter()
    async with await create_client(stack, "guru") as client:
        task = await _task(client, admin)
        first = (await client.start_execution(task))["execution_id"]
        imports = [_import(client, task, outcomes) for _ in range(IMPORTS)]
        streams = [_stream(client, first, outcomes) for _ in range(STREAMS)]
        requests = [asyncio.create_task(work) for work in (_starts(client, task, outcomes), *imports, *streams)]
        try:
            await _work(workers, seconds, durations)
        finally:
            for work in requests:
                work.cancel()
            await asyncio.wait(requests)
            await _clear(client, outcomes)
    return outcomes


async def _task(client: AsyncClient, admin: Admin) -> str:
    """Create a task whose executions call hosts that are slow to answer, and names that are slow to be looked up."""
    name = f"greedy{time.monotonic_ns()}"
    slow = [{"name": "http_get", "input": {"url": f"https://{SLOW_HOST}/{number}"}} for number in range(2)]
    placeholders = [{"name": "http_get", "input": {"url": f"https://{host}/"}} for host in SLOW_NAMES[:2]]
    await admin.set_script(
        name, {"steps": [{"text": "a", "tool_calls": slow}, {"text": "b", "tool_calls": placeholders}, {"text": "c"}]}
    )
    fields = {"tools": ["http_get"], "integrations": ["coingecko", "mailchimp"], "model": f"scripted/{name}"}
    return str((await client.create_task({"name": name, "task_prompt": "Take it.", **fields}))["task_id"])


async def _starts(client: AsyncClient, task: str, outcomes: Counter[str]) -> None:
    """Start executions, so many a second, whether they are accepted or not."""
    while True:
        await asyncio.sleep(1 / STARTS_A_SECOND)
        await _count_outcome(client.start_execution(task), "executions", outcomes)


async def _import(client: AsyncClient, task: str, outcomes: Counter[str]) -> None:
    while True:
        await _count_outcome(client.import_tools(task, {"spec": SPEC, "dry_run": True}), "imports", outcomes)
        await asyncio.sleep(1)


async def _stream(client: AsyncClient, execution: str, outcomes: Counter[str]) -> None:
    async def watch() -> None:
        async for _ in client.stream_events(execution):
            pass
        await asyncio.sleep(60)

    await _count_outcome(watch(), "streams", outcomes)


async def _count_outcome(asking: Any, what: str, outcomes: Counter[str]) -> None:
    try:
        await asking
        outcomes[f"{what} taken"] += 1
    except ApiRefusedError as refused:
        outcomes[f"{what} refused with {refused.status}"] += 1
    except (ApiUnreachableError, httpx.TransportError):
        outcomes[f"{what} not answered"] += 1
    except asyncio.CancelledError:
        outcomes[f"{what} under way"] += 1
        raise


async def _clear(client: AsyncClient, outcomes: Counter[str]) -> None:
    """End what the greedy owner has: what is queued first, then what runs, so that no window has the last one's work."""
    unfinished = [
        execution for execution in await client.list_executions(limit=100) if execution["status"] in ("queued", "running")
    ]
    outcomes["executions left"] += len(unfinished)
    for execution in sorted(unfinished, key=lambda execution: str(execution["status"])):
        with suppress(ApiRefusedError):
            await client.cancel_execution(execution["execution_id"])
    await client.set_halt(on=True)
    async with asyncio.timeout(60):
        while any(execution["status"] in ("queued", "running") for execution in await client.list_executions(limit=100)):  # noqa: ASYNC110 - another process's
            await asyncio.sleep(POLL_S)
