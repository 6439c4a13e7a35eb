"""Events of an execution for its watchers, derived from the record and numbered so that a stream can resume."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from ferryman.domain.calls.call import Ticket, TicketState, to_audit_row
from ferryman.domain.calls.sub_calls import walk_calls
from ferryman.domain.credits.amount import format_credits
from ferryman.domain.executions.execution import Execution, Step
from ferryman.domain.executions.message import join_text, join_thinking
from ferryman.domain.records.place import describe_place

STARTED = 1  # the number of the first event; every turn's numbers follow
NUMBERS_PER_CALL = 2  # a call takes one where it begins, and one for its result


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event: `number` rises by one from 1; `kind` is started, turn, summary, tool_call, tool_result or finished."""

    number: int
    kind: str
    at: datetime
    body: Mapping[str, Any] = field(repr=False)


def count_numbers(step: Step) -> int:
    """Return how many event numbers a turn takes: its own, and two for each call."""
    return 1 + NUMBERS_PER_CALL * step.calls


def number_calls(step: Step, tickets: Iterable[Ticket]) -> Mapping[int, tuple[int, int]]:
    """Return the numbers of the two events of each call of `step`, sub-calls included, by the call's seq.

    They are in the order in which the calls happen: those of a sub-call are between those of the call that asked for it.
    """
    begins: dict[int, int] = {}
    numbers: dict[int, tuple[int, int]] = {}
    for number, (ticket, ends) in enumerate(walk_calls(tickets), step.event + 1):
        if ends:
            numbers[ticket.seq] = (begins[ticket.seq], number)
        else:
            begins[ticket.seq] = number
    return numbers


def derive_events(execution: Execution, steps: Sequence[Step], tickets: Mapping[int, Ticket]) -> Iterator[Event]:
    """Yield the execution's events in order, up to the first that has not happened yet. `tickets` are keyed by seq."""
    last, first = 0, build_started(execution)
    turns: dict[int, list[Ticket]] = {}
    for ticket in tickets.values():
        turns.setdefault(ticket.step, []).append(ticket)
    if first is not None:
        yield first
        last = first.number
    elif not execution.status.terminal:
        return
    for step in steps:
        yield build_turn(step)
        last, calls = step.event, turns.get(step.number, [])
        if sum(ticket.parent is None for ticket in calls) < step.calls:
            return  # the others were not read yet
        for last, (ticket, ends) in enumerate(walk_calls(calls), step.event + 1):
            if not ends:
                yield build_tool_call(last, ticket)
            elif ticket.state is TicketState.SETTLED and ticket.result is not None:
                yield build_tool_result(last, ticket)
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
    ids = {"execution_id": execution.id, "task_id": execution.task, **describe_place(execution)}
    return Event(number=STARTED, kind="started", at=execution.started_at, body=ids)


def build_turn(step: Step) -> Event:
    """Return the event of a turn, or of a summary of what was said before, which is no part of the answer."""
    body: dict[str, Any] = {
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
    if step.summarizes:
        return Event(number=step.event, kind="summary", at=step.at, body={**body, "messages": step.summarizes})
    return Event(number=step.event, kind="turn", at=step.at, body=body)


def build_tool_call(number: int, ticket: Ticket) -> Event:
    """Return the event of a call."""
    about = {"seq": ticket.seq, "parent": ticket.parent, "id": ticket.call}
    body = {**about, "name": ticket.tool, "arguments": ticket.display_arguments}
    if ticket.called_as is not None:
        body["called_as"] = ticket.called_as
    return Event(number=number, kind="tool_call", at=ticket.created_at, body=body)


def build_tool_result(number: int, ticket: Ticket) -> Event:
    """Return the event of the result of a settled call."""
    assert ticket.result is not None, "a settled call has a result"
    assert ticket.settled_at is not None, "a settled call has a time"
    row = to_audit_row(ticket.result)
    result = {name: getattr(row, name) for name in row.__dataclass_fields__}
    body = {"seq": ticket.seq, **result, "parts": ticket.result.parts}  # of the call's whole content
    return Event(number=number, kind="tool_result", at=ticket.settled_at, body=body)


def build_finished(execution: Execution, *, after: int) -> Event:
    """Return the event of the end of an execution; `after` is the number of the event before it."""
    body = {
        "status": execution.status.value,
        "output": execution.output,
        "error": execution.error,
        "credits_used": format_credits(execution.credits_used),
        "iterations": execution.iterations,
    }
    if execution.cancelled_by:
        body["cancelled_by"] = execution.cancelled_by
    return Event(number=after + 1, kind="finished", at=execution.completed_at or execution.created_at, body=body)
