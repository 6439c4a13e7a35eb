"""A call: its ten-field record, and its ticket."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ferryman.domain.calls.call import Ticket, TicketState
from ferryman.domain.records import document
from ferryman.serving.api.shapes.shape import ListPage, ResponseShape


class Result(ResponseShape):
    """The result of one call, in ten fields."""

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


class CallResponse(ResponseShape):
    """One call as it was journaled; its arguments as they were scanned, its result in full.

    `parent` is the `seq` of the call that asked for it; null: the model did. `attempt` counts its tries; until `deadline` the
    latest may be under way. `in_doubt` tells that it was sent, and that nobody knows whether it was executed.
    """

    seq: int
    parent: int | None
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


class CallList(ListPage):
    """A page of an execution's calls, in order."""

    calls: tuple[CallResponse, ...]


def to_response(ticket: Ticket) -> CallResponse:
    """Return the response for `ticket`, without its sealed arguments."""
    return CallResponse.model_validate(document.serialize_ticket(ticket))
