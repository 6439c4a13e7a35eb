"""The driver: the queue's own part, which keeps a task until it is acknowledged and sometimes delivers it twice at once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from tests.campaigns.crash.fixtures import LEASE
from tests.campaigns.crash.peers import Clock

DELIVERIES_MAX = 60
"""An execution that is not over after so many is lost."""

Deliver = Callable[[int], Awaitable[bool]]
"""Delivers one slice; True when it was acknowledged. A process that dies acknowledges nothing."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Task:
    """A named task of the queue."""

    due: datetime
    slice: int
    wake_up: str = ""


def name_wake_up(wake_up: str, waits: int) -> str:
    """Return the part of a task's name that tells it from others of its slice: one that was put back has a name of its own."""
    return f"{wake_up}{waits or ''}"


async def drive(
    deliver: Deliver, waiting: Callable[[], Sequence[Task]], clock: Clock, *, together: int = 1, impatient: bool = False
) -> int:
    """Deliver until nothing waits, and return how many deliveries that took.

    A task that was not acknowledged comes again when the lease has run out, or at once when `impatient`, and then as
    `together` deliveries at the same time.
    """
    gather = _gather(deliver)
    done: set[tuple[int, str]] = set()
    deliveries = 0
    while deliveries < DELIVERIES_MAX:
        tasks = [task for task in waiting() if (task.slice, task.wake_up) not in done]
        if not tasks:
            break
        task = min(tasks)
        clock.turn(max(timedelta(0), task.due - clock.now()))
        times = 1 if deliveries == 0 else together
        deliveries += 1
        if any(await gather(task.slice, times)):
            done.add((task.slice, task.wake_up))
        elif not impatient:
            clock.turn(LEASE + timedelta(seconds=1))
        impatient = False
    return deliveries


def _gather(deliver: Deliver) -> Callable[[int, int], Awaitable[list[bool]]]:
    import asyncio

    async def gather(slice: int, times: int) -> list[bool]:
        return await asyncio.gather(*(deliver(slice) for _ in range(times)))

    return gather
