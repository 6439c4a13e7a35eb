"""Reports of how far a call under way is, as a stream tells of them: the newest, to who watches then, without an id."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ferryman.domain.calls.call import Ticket, TicketState
from ferryman.domain.calls.progress import CallProgress
from ferryman.domain.conversations.position import StreamPosition
from ferryman.domain.conversations.watched import WatchedAnswer
from ferryman.serving.streams.questions import find_requested, number_requested, was_noticed


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedCall:
    """A call whose host has reported how far it is: call `call` of turn `iteration`, from 0, or one that it asked for.

    `requested` is the ticket of the call that the model made, `ticket` the one that is under way.
    """

    iteration: int
    call: int
    requested: Ticket
    ticket: Ticket
    progress: CallProgress


def list_reported(watched: WatchedAnswer, position: StreamPosition) -> list[ReportedCall]:
    """Return the calls under way whose hosts have reported, as far as a watcher at `position` knows the call."""
    tickets = watched.tickets
    reporting = [ticket for ticket in tickets.values() if ticket.progress is not None and ticket.state is TicketState.SENT]
    if not reporting or watched.execution.status.terminal:
        return []
    calls, reports = number_requested(tickets), []
    for ticket in sorted(reporting, key=lambda ticket: ticket.seq):
        requested = find_requested(ticket, tickets)
        if requested is None or ticket.progress is None or ticket.result is not None:
            continue
        call = calls[requested.seq]
        if was_noticed(ticket.step, call, position, watched):
            reports.append(
                ReportedCall(iteration=ticket.step, call=call, requested=requested, ticket=ticket, progress=ticket.progress)
            )
    return reports


def describe_report(report: ReportedCall) -> dict[str, Any]:
    """Return how far the call is, as all formats say it."""
    progress = report.progress
    return {"done": progress.done, "total": progress.total, "message": progress.message}
