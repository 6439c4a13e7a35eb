"""Server-sent events: an execution's events as they happen, numbered so that a watcher resumes where it stopped."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable

from ferryman.domain.call import Ticket, TicketState
from ferryman.domain.event import Event, events
from ferryman.domain.execution import Execution, Step
from ferryman.ports import Executions

MEDIA_TYPE = "text/event-stream"
KEEP_ALIVE = ": still here\n\n"
KEEP_ALIVE_S = 15.0
"""How long a watcher hears nothing before a comment tells it, and every proxy between, that the line is open."""

Sleep = Callable[[float], Awaitable[None]]


def frame(event: Event) -> str:
    """`event` as it is written: its number as id, its kind as event, its body with its moment as one line of JSON."""
    body = json.dumps({"at": event.at.isoformat(), **event.body}, default=str)
    return f"id: {event.number}\nevent: {event.kind}\ndata: {body}\n\n"


async def watch(
    executions: Executions, execution: Execution, *, after: int, poll_s: float, sleep: Sleep = asyncio.sleep
) -> AsyncIterator[str]:
    """The frames of the events numbered above `after`, until the execution has finished.

    The record is read every `poll_s` seconds; of its steps and calls only what is new or not settled yet.
    """
    steps: list[Step] = []
    tickets: dict[int, Ticket] = {}
    current: Execution | None = execution
    quiet_s = 0.0
    while current is not None:
        # the execution is read before its parts: a terminal one has all of them by then
        steps += await executions.steps(execution.id, after=len(steps))
        first = next((seq for seq in sorted(tickets) if tickets[seq].state is not TicketState.SETTLED), len(tickets))
        tickets.update((each.seq, each) for each in await executions.tickets(execution.id, first=first))
        for event in events(current, steps, tickets):
            if event.number > after:
                yield frame(event)
                after, quiet_s = event.number, 0.0
        if current.status.terminal:
            return
        if quiet_s >= KEEP_ALIVE_S:
            yield KEEP_ALIVE
            quiet_s = 0.0
        await sleep(poll_s)
        quiet_s += poll_s
        current = await executions.get(execution.id)
