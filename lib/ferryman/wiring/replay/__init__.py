"""Replay: the loop runs again from a record, on doubles, offline; what it asks of the model this time can be compared."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from ferryman.billing.prices import Price, Prices, price_of
from ferryman.domain.execution import Opening
from ferryman.domain.message import Prompt
from ferryman.domain.record import Record
from ferryman.local.clusters import MemoryClusters
from ferryman.local.halts import MemoryHalts
from ferryman.local.log import KeptLog
from ferryman.local.owners import MemoryOwners
from ferryman.local.queue import MemoryQueue
from ferryman.local.signing import Unsigned
from ferryman.local.tasks import MemoryCredentials, MemoryTasks
from ferryman.loop.house import House
from ferryman.loop.run import deliver
from ferryman.wiring.replay.course import Course
from ferryman.wiring.replay.doubles import RecordedExecutions, RecordedModel, RecordedScanner, RecordedTools
from ferryman.wiring.replay.offline import offline

FOR_EVER = timedelta(days=3650)
"""Leases and slices do not run out by themselves: a replay hands over where the record says so."""


class Unended(ValueError):  # noqa: N818 - reads as the fact it states
    """The execution has not ended, so that its record is not whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """What a replay came to: its own record, and what the model was asked for each of its turns."""

    record: Record
    prompts: Sequence[Prompt] = field(repr=False)


def replay(record: Record) -> Replayed:
    """Run the loop again from `record`. Raises `Unended`, and `Offline` should anything reach for the network."""
    return asyncio.run(again(record))


async def again(record: Record) -> Replayed:
    """`replay`, for whoever has an event loop already."""
    if not record.execution.status.terminal:
        raise Unended(f"execution {record.execution.id} has not ended yet")
    if record.opening is None:
        return Replayed(record=record, prompts=())  # it ended before anybody asked a model
    course = Course(record, record.opening)
    with offline():
        await _delivered(course, record)
    memory, execution = course.memory, record.execution.id
    steps, tickets = memory.steps.get(execution, {}), memory.tickets.get(execution, {})
    replayed = Record(
        execution=course.execution,
        opening=record.opening,
        steps=tuple(steps[number] for number in sorted(steps)),
        tickets=tuple(tickets[seq] for seq in sorted(tickets)),
        entries=tuple(memory.entries.values()),
    )
    return Replayed(record=replayed, prompts=tuple(course.prompts))


async def _delivered(course: Course, record: Record) -> None:
    queue = MemoryQueue()
    assert record.opening is not None
    house = _house(course, queue, record.opening)
    # every hand-over, and every try of a call, may take a delivery of its own; a replay that goes astray is not run for ever
    for _ in range(10 + record.execution.slice + 3 * sum(ticket.attempt for ticket in record.tickets)):
        if course.execution.status.terminal:
            return
        await deliver(house, record.execution.id, slice=course.execution.slice, holder="replay")
        following = queue.take()
        if following is not None:
            course.wait(following.after)


def _house(course: Course, queue: MemoryQueue, opening: Opening) -> House:
    def price(model: str) -> Price | None:
        return price_of(model, opening.price) if opening.price else Prices().of(model)

    return House(
        owners=MemoryOwners(course.memory),
        tasks=MemoryTasks(course.memory),
        credentials=MemoryCredentials(course.memory),
        clusters=MemoryClusters(course.memory),
        executions=RecordedExecutions(course),
        halts=MemoryHalts(course.memory),
        queue=queue,
        model=RecordedModel(course),
        scanner=RecordedScanner(course),
        registry=RecordedTools(course),
        signing=Unsigned(),
        clock=course,
        tracer=KeptLog(),
        seal=lambda execution, seq, arguments: b"",  # noqa: ARG005 - a record holds no sealed bytes
        price=price,
        plans={},
        integrations={},
        lease=FOR_EVER,
        slice=FOR_EVER,
        patience=timedelta(seconds=opening.patience_s),
    )
