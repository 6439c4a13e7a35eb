"""Events: what a watcher of an execution is told, derived from the record and numbered so that watching can resume."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ferryman.domain.call import Ticket, TicketState, audit_row
from ferryman.domain.execution import Execution, Step
from ferryman.domain.ledger import plain
from ferryman.domain.message import text_of

STARTED = 1
"""The number of the first event; every turn's numbers follow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event: `number` rises by one from 1; `kind` is started, turn, tool_call, tool_result or finished."""

    number: int
    kind: str
    at: datetime
    body: Mapping[str, Any] = field(repr=False)


def numbers_of(step: Step) -> int:
    """How many event numbers a turn takes: its own, and two for each call."""
    return 1 + 2 * step.calls


def events(execution: Execution, steps: Sequence[Step], tickets: Mapping[int, Ticket]) -> Iterator[Event]:
    """The execution's events in order, up to the first that has not happened yet. `tickets` are keyed by seq."""
    if execution.started_at is None and not execution.status.terminal:
        return
    last = 0
    if execution.started_at is not None:
        last = STARTED
        ids = {"execution_id": execution.id, "task_id": execution.task}
        yield Event(number=STARTED, kind="started", at=execution.started_at, body=ids)
    for step in steps:
        body = {
            "iteration": step.number,
            "text": text_of(step.content),
            "calls": step.calls,
            "input_tokens": step.usage.input_tokens,
            "output_tokens": step.usage.output_tokens,
            "credits": plain(step.credits),
        }
        yield Event(number=step.event, kind="turn", at=step.at, body=body)
        last = step.event
        for offset in range(step.calls):
            ticket = tickets.get(step.first_call + offset)
            if ticket is None:
                return
            called = {"seq": ticket.seq, "id": ticket.call, "name": ticket.tool, "arguments": ticket.shown}
            yield Event(number=last + 1, kind="tool_call", at=ticket.created_at, body=called)
            if ticket.state is not TicketState.SETTLED or ticket.result is None or ticket.settled_at is None:
                if not execution.status.terminal:
                    return
                last += 2
                continue
            row = audit_row(ticket.result)
            result = {name: getattr(row, name) for name in row.__dataclass_fields__}
            yield Event(number=last + 2, kind="tool_result", at=ticket.settled_at, body={"seq": ticket.seq, **result})
            last += 2
    if execution.status.terminal:
        body = {
            "status": execution.status.value,
            "output": execution.output,
            "error": execution.error,
            "credits_used": plain(execution.credits_used),
            "iterations": execution.iterations,
        }
        yield Event(number=last + 1, kind="finished", at=execution.completed_at or execution.created_at, body=body)
