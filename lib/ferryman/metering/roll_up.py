"""Rolling up: one delivery takes a slice of a workspace's events, and has the next one delivered where there are more.

The process may die at any line: an event is deleted in the commit that adds it, and the queue delivers the slice again.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from ferryman.domain.metering.rollup import EVENTS_MAX
from ferryman.domain.metering.rounds import SPACING, find_round
from ferryman.ports.clock import Clock
from ferryman.ports.errors import UnavailableError
from ferryman.ports.log import Tracer
from ferryman.ports.metering import UsageQueue, UsageStore

SWEPT_MAX = 100
"""How many late events one sweep looks at; the next one finds the rest."""
LATE = timedelta(minutes=10)
"""After what time an event that is not rolled up is late: the queue has lost its round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeteringDependencies:
    """Everything that rolling up uses."""

    usage: UsageStore
    queue: UsageQueue
    clock: Clock
    tracer: Tracer
    most: int = EVENTS_MAX


async def deliver(deps: MeteringDependencies, workspace: str, *, number: int, slice: int) -> bool:
    """Roll up a slice of the events of `workspace`. Return whether the queue may drop this delivery.

    False has it delivered again.
    """
    try:
        done = await deps.usage.roll_up(workspace, most=deps.most, now=deps.clock.now())
        if done.more:
            await deps.queue.enqueue(workspace, number=number, slice=slice + 1, after=SPACING)
    except UnavailableError as error:
        deps.tracer.line("usage.paused", workspace=workspace, reason=str(error))
        return False
    deps.tracer.line("usage.rolled_up", workspace=workspace, events=done.events, again=done.more)
    return True


async def sweep(deps: MeteringDependencies) -> None:
    """Enqueue a round for each workspace with late events. Raise `UnavailableError`."""
    now = deps.clock.now()
    number, after = find_round(now)
    late = await deps.usage.list_late(before=now - LATE, most=SWEPT_MAX)
    for workspace in late:
        await deps.queue.enqueue(workspace, number=number, after=after)
    if late:
        deps.tracer.line("usage.swept", workspaces=len(late), severity="WARNING")
