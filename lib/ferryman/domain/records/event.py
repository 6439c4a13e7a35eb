"""Events of an execution for its watchers, derived from the record and numbered so that a stream can resume."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from ferryman.domain.calls.call import Ticket, TicketState, to_audit_row
from ferryman.domain.credits.ledger import format_credits
from ferryman.domain.executions.execution import Execution, Step
from ferryman.domain.executions.message import join_text, join_thinking

STARTED = 1  # the number of the first event; every turn's numbers follow


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event: `number` rises by one from 1; `kind` is started, turn, tool_call, tool_result or finished."""

    number: int
    kind: str
    at: datetime
    body: Mapping[str, Any] = field(repr=False)


def count_numbers(step: Step) -> int:
    """Return how many event numbers a turn takes: its own, and two for each call."""
    return 1 + 2 * step.calls


def derive_events(execution: Execution, steps: Sequence[Step], tickets: Mapping[int, Ticket]) -> Iterator[Event]:
    """Yield the execution's events in order, up to the first that has not happened yet. `tickets` are keyed by seq."""
    last, first = 0, build_started(execution)
    if first is not None:
        yield first
        last = first.number
    elif not execution.status.terminal:
        return
    for step in steps:
        yield build_turn(step)
        last = step.event + count_numbers(step) - 1
        for seq in range(step.first_call, step.first_call + step.calls):
            ticket = tickets.get(seq)
            if ticket is None:
                return
            yield build_tool_call(step, ticket)
            if ticket.state is TicketState.SETTLED and ticket.result is not None:
                yield build_tool_result(step, ticket)
            elif not execution.status.terminal:
                return
    if execution.status.terminal:
        yield build_finished(execution, after=last)


def summarize_progress(execution: Execution, steps: Sequence[Step], *, fees: Decimal) -> Mapping[str, Any]:
    """Return the credits that an execution under way has spent so far, of those that are reserved for it, and its trouble.

    The credits are those of the turns and the `fees` of the calls that have settled; the trouble is how often the model was
    asked for the next turn in vain, and why. It is no event: it has no number, and no record holds it.
    """
    used = sum((step.credits for step in steps), fees)
    return {
        "credits_used": format_credits(used),
        "credits_reserved": format_credits(execution.credits_reserved),
        "attempts": execution.model_trouble.attempts,
        "cause": execution.model_trouble.cause or None,
    }


def build_started(execution: Execution) -> Event | None:
    """Return the event of the start; None before it."""
    if execution.started_at is None:
        return None
    ids = {"execution_id": execution.id, "task_id": execution.task}
    return Event(number=STARTED, kind="started", at=execution.started_at, body=ids)


def build_turn(step: Step) -> Event:
    """Return the event of a turn."""
    body = {
        "iteration": step.number,
        "text": join_text(step.content),
        "calls": step.calls,
        "input_tokens": step.usage.input_tokens,
        "output_tokens": step.usage.output_tokens,
        "credits": format_credits(step.credits),
    }
    thinking = join_thinking(step.content)
    if thinking:
        body["thinking"] = thinking
    return Event(number=step.event, kind="turn", at=step.at, body=body)


def build_tool_call(step: Step, ticket: Ticket) -> Event:
    """Return the event of a call that `step` asks for."""
    body = {"seq": ticket.seq, "id": ticket.call, "name": ticket.tool, "arguments": ticket.display_arguments}
    return Event(number=_number_call(step, ticket), kind="tool_call", at=ticket.created_at, body=body)


def build_tool_result(step: Step, ticket: Ticket) -> Event:
    """Return the event of the result of a settled call of `step`."""
    assert ticket.result is not None, "a settled call has a result"
    assert ticket.settled_at is not None, "a settled call has a time"
    row = to_audit_row(ticket.result)
    result = {name: getattr(row, name) for name in row.__dataclass_fields__}
    body = {"seq": ticket.seq, **result}
    return Event(number=_number_call(step, ticket) + 1, kind="tool_result", at=ticket.settled_at, body=body)


def build_finished(execution: Execution, *, after: int) -> Event:
    """Return the event of the end of an execution; `after` is the number of the event before it."""
    body = {
        "status": execution.status.value,
        "output": execution.output,
        "error": execution.error,
        "credits_used": format_credits(execution.credits_used),
        "iterations": execution.iterations,
    }
    return Event(number=after + 1, kind="finished", at=execution.completed_at or execution.created_at, body=body)


def _number_call(step: Step, ticket: Ticket) -> int:
    return step.event + 1 + 2 * (ticket.seq - step.first_call)
