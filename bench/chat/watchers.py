"""What those who watch one execution on one instance read, counted at the local Firestore."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from bench import Row
from bench.operations.counting import READS, Counts
from bench.operations.model import CountingModel
from bench.operations.services import API
from bench.operations.system import OWNER, CountedSystem, run_system
from ferryman.domain.owners.plan import PRO

MANY = 64
TURNS = 40
MOST = 1.2
LOOK_S = 0.01


async def count_reads(system: CountedSystem, watchers: int) -> tuple[int, int]:
    """Return what so many read until all of them watch, and what they read from then on to the end."""
    execution = await system.start_execution()
    before = system.snapshot("")
    events = f"/v1/executions/{execution}/events"
    watching = []
    for number in range(1, watchers + 1):  # at once they would be more requests than one owner may have under way
        watching.append(asyncio.create_task(system.client.get(events)))
        while system.deps.watchers[OWNER] < number:  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(LOOK_S)
    opened = system.snapshot("")
    await system.deliver(execution, CountingModel(TURNS, 1, Counts))
    answers = await asyncio.gather(*watching)
    received = Counter((answer.status_code, answer.text) for answer in answers)
    if len(received) != 1 or "event: finished" not in answers[0].text:
        raise AssertionError(f"not all saw the same: {[(status, text[-100:]) for status, text in received]}")
    ended = system.snapshot("")
    return opened[API, READS] - before[API, READS], ended[API, READS] - opened[API, READS]


async def measure() -> tuple[tuple[int, int], tuple[int, int]]:
    """Return what one reads, and what many."""
    async with run_system() as system:
        system.deps.plans["pro"] = replace(PRO, streams=2 * MANY)  # type: ignore[index] # the plans are this bench's own
        await count_reads(system, 1)  # the first reads what is kept from then on
        return await count_reads(system, 1), await count_reads(system, MANY)


def rows() -> Iterable[Row]:
    """Yield what many cost in place of one."""
    (_, alone), (opening, many) = asyncio.run(measure())
    yield Row(
        f"chat: reads of {MANY} watchers of an execution of {TURNS} turns, beside those of one",
        f"<= {MOST:g}",
        f"{many / alone:.2f} ({many} and {alone}); to open a stream {opening / MANY:.1f} reads for each",
        many <= MOST * alone,
    )
