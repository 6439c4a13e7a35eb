"""Server-sent events: an execution's events as they happen, numbered so that a watcher resumes where it stopped.

Between them, `progress` tells what was spent so far, and why the model does not answer. It has no number: it is of the moment,
and no record holds it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from decimal import Decimal
from typing import Any

from ferryman.catalog.tools import get_fee
from ferryman.domain.calls.call import Ticket
from ferryman.domain.records.event import Event, derive_events, summarize_progress
from ferryman.feeds import Feed

MEDIA_TYPE = "text/event-stream"
KEEP_ALIVE = ": still here\n\n"
KEEP_ALIVE_S = 15.0
"""After how many seconds without an event a comment is sent: it keeps the connection open at every proxy on the way."""

Sleep = Callable[[float], Awaitable[None]]


def format_event(event: Event) -> str:
    """Return `event` as it is sent: its number as id, its kind as event, its body with its moment as one line of JSON."""
    body = json.dumps({"at": event.at.isoformat(), **event.body}, default=str)
    return f"id: {event.number}\nevent: {event.kind}\ndata: {body}\n\n"


def format_progress(progress: Mapping[str, Any]) -> str:
    """Return the frame of the progress so far: without an id, so that a watcher resumes after the last event."""
    return f"event: progress\ndata: {json.dumps(progress)}\n\n"


async def stream_events(feed: Feed, *, after: int, poll_s: float, sleep: Sleep = asyncio.sleep) -> AsyncIterator[str]:
    """Yield the frames of the events numbered above `after`, until the execution has finished.

    New ones are read after each `sleep` of `poll_s` seconds, which may end sooner where a change is known. A frame `progress`
    follows them whenever there is a change of it.
    """
    read, quiet_s = await feed.refresh(0), 0.0
    progress: Mapping[str, Any] | None = None
    while (current := feed.current) is not None:
        for event in derive_events(current, feed.steps, feed.tickets):
            if event.number > after:
                yield format_event(event)
                after, quiet_s = event.number, 0.0
        if current.status.terminal:
            return
        is_worth_telling = bool(feed.steps) or current.model_trouble.attempts > 0
        if is_worth_telling and (latest := summarize_progress(current, feed.steps, fees=_sum_fees(feed.tickets))) != progress:
            yield format_progress(latest)
            progress, quiet_s = latest, 0.0
        if quiet_s >= KEEP_ALIVE_S:
            yield KEEP_ALIVE
            quiet_s = 0.0
        await sleep(poll_s)
        quiet_s += poll_s
        read = await feed.refresh(read)


def _sum_fees(tickets: Mapping[int, Ticket]) -> Decimal:
    return sum((get_fee(ticket.result) for ticket in tickets.values() if ticket.result is not None), Decimal(0))
