"""A call: its ten-field record, and the ticket that carried it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ferryman.domain.call import Ticket, TicketState, ToolCallResult
from ferryman.serving.api.shapes.shape import Answered


class Result(Answered):
    """What came of one call, in ten fields."""

    tool: str
    content: str
    url: str | None
    method: str | None
    credential_used: str | None
    response_status: int | None
    response_size_bytes: int | None
    latency_ms: float | None
    blocked: bool
    block_reason: str | None


class CallShown(Answered):
    """One call as it was journaled; its arguments as they were scanned, its result in full.

    `attempt` counts its tries; until `deadline` the latest may be under way. `in_doubt` tells that it was sent, and that nobody
    knows whether it was carried out.
    """

    seq: int
    iteration: int
    id: str
    tool: str
    arguments: dict[str, Any]
    state: TicketState
    attempt: int
    in_doubt: bool
    created_at: datetime
    sent_at: datetime | None
    deadline: datetime | None
    settled_at: datetime | None
    result: Result | None


class CallList(Answered):
    """An execution's calls in order."""

    calls: tuple[CallShown, ...]


def result(of: ToolCallResult) -> Result:
    """The ten fields of a result."""
    return Result(**{name: getattr(of, name) for name in Result.model_fields})


def shown(ticket: Ticket) -> CallShown:
    """`ticket` as it is answered; its sealed arguments stay behind."""
    return CallShown(
        seq=ticket.seq,
        iteration=ticket.step,
        id=ticket.call,
        tool=ticket.tool,
        arguments=dict(ticket.shown),
        state=ticket.state,
        attempt=ticket.attempt,
        in_doubt=ticket.in_doubt,
        created_at=ticket.created_at,
        sent_at=ticket.sent_at,
        deadline=ticket.deadline,
        settled_at=ticket.settled_at,
        result=None if ticket.result is None else result(ticket.result),
    )
