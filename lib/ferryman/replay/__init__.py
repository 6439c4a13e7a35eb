"""Replay: the loop runs again from a record, on doubles, offline; what it asks of the model this time can be compared."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from ferryman.billing.prices import ModelPrice, Prices, parse_price
from ferryman.domain.executions.execution import ExecutionSetup
from ferryman.domain.executions.message import Prompt
from ferryman.domain.records.record import Record
from ferryman.inmemory.alerts import MemoryAlertQueue
from ferryman.inmemory.approvals import MemoryApprovals
from ferryman.inmemory.clusters import MemoryClusters
from ferryman.inmemory.contexts import MemoryContexts
from ferryman.inmemory.conversations import MemoryConversations
from ferryman.inmemory.credentials import MemoryCredentials
from ferryman.inmemory.jobs import MemoryJobs
from ferryman.inmemory.key_store import NullSigner
from ferryman.inmemory.log import RecordingLog
from ferryman.inmemory.owners import MemoryHalts, MemoryOwners
from ferryman.inmemory.queue import MemoryQueue
from ferryman.inmemory.tasks import MemoryTasks
from ferryman.inmemory.usage import MemoryUsageQueue
from ferryman.loop.dependencies import LoopDependencies
from ferryman.loop.run import deliver
from ferryman.replay.doubles import RecordedExecutions, RecordedTools
from ferryman.replay.offline import block_network
from ferryman.replay.state import ReplayState

FOR_EVER = timedelta(days=3650)
"""Leases and slices do not run out by themselves: a replay hands over where the record says so."""


class NotEndedError(ValueError):
    """The execution has not ended, so that its record is not whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayResult:
    """What a replay came to: its own record, and what the model was asked for each of its turns."""

    record: Record
    prompts: Sequence[Prompt] = field(repr=False)


def replay(record: Record) -> ReplayResult:
    """Run the loop again from `record`. Raise `NotEndedError`, and `OfflineError` should anything reach for the network."""
    return asyncio.run(run_replay(record))


async def run_replay(record: Record) -> ReplayResult:
    """Run `replay` where an event loop runs already."""
    if not record.execution.status.terminal:
        raise NotEndedError(f"execution {record.execution.id} has not ended yet")
    if record.opening is None:
        return ReplayResult(record=record, prompts=())  # it ended before anybody asked a model
    state = ReplayState(record, record.opening)
    with block_network():
        await _deliver_all(state, record)
    memory, execution = state.memory, record.execution.id
    steps, tickets = memory.steps.get(execution, {}), memory.tickets.get(execution, {})
    replayed = Record(
        execution=state.execution,
        opening=record.opening,
        steps=tuple(steps[number] for number in sorted(steps)),
        tickets=tuple(state.note_approval(tickets[seq]) for seq in sorted(tickets)),
        entries=tuple(memory.entries.values()),
    )
    return ReplayResult(record=replayed, prompts=tuple(state.prompts))


async def _deliver_all(state: ReplayState, record: Record) -> None:
    queue = MemoryQueue()
    assert record.opening is not None
    deps = _build_dependencies(state, queue, record.opening)
    # every hand-over, turn, and try of a call may take a delivery of its own; a replay that goes astray is not run for ever
    for _ in range(10 + record.execution.slice + len(record.steps) + 3 * sum(ticket.attempt for ticket in record.tickets)):
        if state.execution.status.terminal:
            return
        await deliver(deps, record.execution.id, slice=state.execution.slice, holder="replay")
        following = queue.take()
        if following is not None:
            state.wait(following.after)


def _build_dependencies(state: ReplayState, queue: MemoryQueue, opening: ExecutionSetup) -> LoopDependencies:
    def price(model: str) -> ModelPrice | None:
        return parse_price(model, opening.price) if opening.price else Prices().find(model)

    execution_timeout = timedelta(seconds=opening.timeout_s)
    return LoopDependencies(
        owners=MemoryOwners(state.memory),
        tasks=MemoryTasks(state.memory),
        credentials=MemoryCredentials(state.memory),
        contexts=MemoryContexts(state.memory),
        clusters=MemoryClusters(state.memory),
        conversations=MemoryConversations(state.memory),
        executions=RecordedExecutions(state),
        approvals=MemoryApprovals(state.memory),
        decisions=state,
        jobs=MemoryJobs(state.memory),
        halts=MemoryHalts(state.memory),
        queue=queue,
        alerts=MemoryAlertQueue(),
        metering=MemoryUsageQueue(),
        model=state,
        scanner=state,
        registry=RecordedTools(state, execution_timeout),
        signing=NullSigner(),
        clock=state,
        tracer=RecordingLog(),
        seal=lambda execution, seq, arguments: b"",  # noqa: ARG005 - a record holds no sealed bytes
        price=price,
        plans={},
        integrations={},
        lease=FOR_EVER,
        slice=FOR_EVER,
        execution_timeout=execution_timeout,
    )
