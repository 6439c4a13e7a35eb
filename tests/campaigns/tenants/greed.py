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

from ferryman.client import ApiRefusedError, ApiUnreachableError, Client
from ferryman.stack.admin import Admin
from tests.campaigns.tenants.play import Tenant, prepare, tenant
from tests.campaigns.tenants.upstream import Upstream
from tests.stack import create_client

BAR = 1.3
"""How many times as long the others' executions may take beside a greedy owner, at the 95th percentile."""

EVERY_S = 2.0
"""Each owner who works starts an execution in so many seconds, whether the one before has ended or not: what is slow is not
made up for by asking less."""

POLL_S = 0.25
SLOW_HOST, SLOW_S = "api.coingecko.com", 3.0
HOLES, LOOKUP_S = [f"us{number}.api.mailchimp.com" for number in range(24)], 8.0
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
class Found:
    """How long executions took, in seconds, `alone` and `beside` a greedy owner; what became of what that one asked for."""

    alone: list[float] = field(default_factory=list)
    beside: list[float] = field(default_factory=list)
    greedy: Counter[str] = field(default_factory=Counter)

    @property
    def ratio(self) -> float:
        return percentile(self.beside, 95) / percentile(self.alone, 95)

    def lines(self) -> list[str]:
        """What there is to say, and last whether the bar holds."""
        told = [f"the greedy owner: {', '.join(f'{count} {what}' for what, count in sorted(self.greedy.items()))}"]
        for name, values in (("alone", self.alone), ("beside a greedy owner", self.beside)):
            half, most = percentile(values, 50), percentile(values, 95)
            told.append(f"{len(values)} executions {name}: median {half:.2f} s, p95 {most:.2f} s")
        return [*told, f"p95 beside a greedy owner is {self.ratio:.2f} times what it is alone; at most {BAR:g} may be"]


def percentile(values: Sequence[float], percent: int) -> float:
    """The nearest-rank percentile."""
    return sorted(values)[max(0, math.ceil(len(values) * percent / 100) - 1)]


async def compare(
    stack: Mapping[str, Any], admin: Admin, upstream: Upstream, *, owners: int, windows: int, window_s: float
) -> Found:
    """So many windows of each kind, in turns, the order of the two changing each time."""
    found = Found()
    await admin.serve_routes(
        SLOW_HOST, [{"method": "*", "path": f"/{number}", "json": {}, "delay_s": SLOW_S} for number in range(9)]
    )
    for host in HOLES:
        await admin.put_host(host, {"routes": [], "lookup_s": LOOKUP_S})
    workers = [tenant(await create_client(stack), number) for number in range(owners)]
    for each in workers:
        await prepare(each, admin, upstream)
    await _work(workers, 3.0, [])  # what is slow once is not counted
    for number in range(2 * windows):
        took: list[float] = []
        if number % 4 in (0, 3):
            await _work(workers, window_s, took)
            found.alone += took
        else:
            found.greedy += await _beside(stack, admin, workers, window_s, took)
            found.beside += took
        kind = "alone" if number % 4 in (0, 3) else "beside a greedy owner"
        print(
            f"window {number + 1} of {2 * windows}, {kind}: {len(took)} executions, p95 {percentile(took, 95):.2f} s",
            flush=True,
        )
    for each in workers:
        await each.client.__aexit__()
    return found


async def _work(workers: Sequence[Tenant], seconds: float, took: list[float]) -> None:
    """Executions of every owner, begun in so many seconds, each awaited."""
    runs: list[asyncio.Task[None]] = []
    for _ in range(round(seconds / EVERY_S)):
        for each in workers:
            runs.append(asyncio.create_task(_run(each, took)))
            await asyncio.sleep(EVERY_S / len(workers))
    await asyncio.gather(*runs)


async def _run(each: Tenant, took: list[float]) -> None:
    execution = (await each.client.start_execution(each.task, each.prompt))["execution_id"]
    record = await _record(each.client, execution)
    while record is None or record["completed_at"] is None:
        await asyncio.sleep(POLL_S)
        record = await _record(each.client, execution)
    assert record["status"] == "completed", record["error"]
    ends, began = (datetime.fromisoformat(record[name]) for name in ("completed_at", "created_at"))
    took.append((ends - began).total_seconds())


async def _record(client: Client, execution: str) -> Mapping[str, Any] | None:
    with suppress(ApiUnreachableError):  # a connection that was kept open is closed at the moment it is used again
        return await client.get_execution(execution)
    return None


async def _beside(
    stack: Mapping[str, Any], admin: Admin, workers: Sequence[Tenant], seconds: float, took: list[float]
) -> Counter[str]:
    """A window beside a new greedy owner, all of whose executions have ended when this answers what became of its wishes."""
    told: Counter[str] = Counter()
    async with await create_client(stack, "guru") as client:
        task = await _task(client, admin)
        first = (await client.start_execution(task))["execution_id"]
        imports = [_import(client, task, told) for _ in range(IMPORTS)]
        streams = [_stream(client, first, told) for _ in range(STREAMS)]
        taking = [asyncio.create_task(each) for each in (_starts(client, task, told), *imports, *streams)]
        try:
            await _work(workers, seconds, took)
        finally:
            for each in taking:
                each.cancel()
            await asyncio.wait(taking)
            await _clear(client, told)
    return told


async def _task(client: Client, admin: Admin) -> str:
    """Every execution asks hosts that are slow to answer, and names that are slow to be looked up."""
    name = f"greedy{time.monotonic_ns()}"
    slow = [{"name": "http_get", "input": {"url": f"https://{SLOW_HOST}/{number}"}} for number in range(2)]
    placeholders = [{"name": "http_get", "input": {"url": f"https://{host}/"}} for host in HOLES[:2]]
    await admin.set_script(
        name, {"steps": [{"text": "a", "tool_calls": slow}, {"text": "b", "tool_calls": placeholders}, {"text": "c"}]}
    )
    fields = {"tools": ["http_get"], "integrations": ["coingecko", "mailchimp"], "model": f"scripted/{name}"}
    return str((await client.create_task({"name": name, "task_prompt": "Take it.", **fields}))["task_id"])


async def _starts(client: Client, task: str, told: Counter[str]) -> None:
    """Executions, so many a second, whether they are taken or not."""
    while True:
        await asyncio.sleep(1 / STARTS_A_SECOND)
        await _asked(client.start_execution(task), "executions", told)


async def _import(client: Client, task: str, told: Counter[str]) -> None:
    while True:
        await _asked(client.import_tools(task, {"spec": SPEC, "dry_run": True}), "imports", told)
        await asyncio.sleep(1)


async def _stream(client: Client, execution: str, told: Counter[str]) -> None:
    async def watch() -> None:
        async for _ in client.stream_events(execution):
            pass
        await asyncio.sleep(60)

    await _asked(watch(), "streams", told)


async def _asked(asking: Any, what: str, told: Counter[str]) -> None:
    try:
        await asking
        told[f"{what} taken"] += 1
    except ApiRefusedError as refused:
        told[f"{what} refused with {refused.status}"] += 1
    except (ApiUnreachableError, httpx.TransportError):
        told[f"{what} not answered"] += 1
    except asyncio.CancelledError:
        told[f"{what} under way"] += 1
        raise


async def _clear(client: Client, told: Counter[str]) -> None:
    """End what the greedy owner has: what is queued first, then what runs, so that no window has the last one's work."""
    left = [each for each in await client.list_executions(limit=100) if each["status"] in ("queued", "running")]
    told["executions left"] += len(left)
    for each in sorted(left, key=lambda each: str(each["status"])):
        with suppress(ApiRefusedError):
            await client.cancel_execution(each["execution_id"])
    await client.set_halt(on=True)
    async with asyncio.timeout(60):
        while any(each["status"] in ("queued", "running") for each in await client.list_executions(limit=100)):  # noqa: ASYNC110 - another process's
            await asyncio.sleep(POLL_S)
