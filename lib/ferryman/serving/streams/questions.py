"""Calls that a person is asked about, as a stream tells of them: derived from the tickets, beside the numbered moments.

What is told of them has no id: who comes back is told again what still waits, and before the result of a call how it was
decided about. So a client ends with the same, wherever its stream broke off.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ferryman.domain.calls.call import Ticket, TicketState
from ferryman.domain.conversations.position import StreamPosition
from ferryman.domain.conversations.watched import WatchedAnswer

APPROVED, DENIED, EDITED, EXPIRED, WITHDRAWN = "approved", "denied", "edited", "expired", "withdrawn"
_REFUSED = {"denied": DENIED, "approval_expired": EXPIRED}
"""What came of a call that was refused, by the code of its result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedCall:
    """A call that a person is asked about: call `call` of turn `iteration`, from 0, or one that it asked for.

    `requested` is the ticket of the call that the model made, `ticket` the one that waits. `verdict` is what came of it:
    approved, denied, edited, expired or withdrawn; None while that is open. `is_waiting` tells that it waits at the moment.
    """

    iteration: int
    call: int
    requested: Ticket
    ticket: Ticket
    verdict: str | None
    is_waiting: bool


def list_asked(watched: WatchedAnswer) -> list[AskedCall]:
    """Return the calls that a person is or was asked about, in the order of their numbers."""
    tickets = watched.tickets
    waiting = [ticket for ticket in tickets.values() if ticket.approval]
    if not waiting:
        return []
    parents = {ticket.parent for ticket in tickets.values()}
    calls = number_requested(tickets)
    is_over, calls_asked = watched.execution.status.terminal, []
    for ticket in sorted(waiting, key=lambda ticket: ticket.seq):
        requested = find_requested(ticket, tickets)
        if requested is None:
            continue  # it was not read yet
        verdict = _find_verdict(ticket, is_parent=ticket.seq in parents, is_over=is_over)
        is_waiting = verdict is None and ticket.state is TicketState.WAITING
        calls_asked.append(
            AskedCall(
                iteration=ticket.step,
                call=calls[requested.seq],
                requested=requested,
                ticket=ticket,
                verdict=verdict,
                is_waiting=is_waiting,
            )
        )
    return calls_asked


def is_denied(ticket: Ticket) -> bool:
    """Tell whether a person has denied the call."""
    is_asked = bool(ticket.approval) and ticket.approved is None
    return is_asked and ticket.result is not None and ticket.result.code == DENIED


def was_noticed(iteration: int, call: int, position: StreamPosition, watched: WatchedAnswer) -> bool:
    """Tell whether a watcher at `position` has seen call `call` of turn `iteration` with its arguments."""
    event = next((step.event for step in watched.steps if step.number == iteration), None)
    if event is None or position.event < event:
        return False
    return position.event > event or position.calls > call


def number_requested(tickets: Mapping[int, Ticket]) -> Mapping[int, int]:
    """Return which call of its turn each call that the model made is, from 0, by its ticket's number."""
    numbers: dict[int, int] = {}
    counts: dict[int, int] = {}
    for ticket in sorted(tickets.values(), key=lambda ticket: ticket.seq):
        if ticket.parent is None:
            numbers[ticket.seq] = counts.get(ticket.step, 0)
            counts[ticket.step] = numbers[ticket.seq] + 1
    return numbers


def find_requested(ticket: Ticket, tickets: Mapping[int, Ticket]) -> Ticket | None:
    """Return the call that the model made, which `ticket` is or was asked for by; None where it was not read yet."""
    requested: Ticket | None = ticket
    while requested is not None and requested.parent is not None:
        # a call asks for later ones alone, so that this ends
        requested = tickets.get(requested.parent) if requested.parent < requested.seq else None
    return requested


def _find_verdict(ticket: Ticket, *, is_parent: bool, is_over: bool) -> str | None:
    if ticket.unanswered:
        return _REFUSED.get(ticket.unanswered, WITHDRAWN)
    if ticket.approved is not None:
        return APPROVED
    if is_parent:
        return EDITED
    if ticket.state is TicketState.SETTLED and ticket.result is not None:
        return _REFUSED.get(ticket.result.code or "", WITHDRAWN)
    return WITHDRAWN if is_over else None
