"""Settlements: what a key holder tells the orchestrator of a call, so that nothing has to be read again to sign for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

from ferryman.domain.calls.call import Ticket, TicketState, ToolCallResult

_TIMES = ("sent_at", "deadline", "settled_at")


def write_settlement(ticket: Ticket) -> dict[str, Any]:
    """Return what is told of a settled `ticket`, as JSON; times are ISO 8601 with their offset."""
    assert ticket.result is not None, "a settled call has a result"
    times = {name: None if (at := getattr(ticket, name)) is None else at.isoformat() for name in _TIMES}
    return {"attempt": ticket.attempt, "in_doubt": ticket.in_doubt, **times, "result": asdict(ticket.result)}


def read_settlement(ticket: Ticket, told: Mapping[str, Any]) -> Ticket:
    """Return `ticket` as it settled. Raises ValueError, KeyError or TypeError for what is no settlement."""
    times: dict[str, Any] = {name: _parse_time(told[name]) for name in _TIMES}
    return replace(
        ticket,
        state=TicketState.SETTLED,
        attempt=int(told["attempt"]),
        in_doubt=bool(told["in_doubt"]),
        result=ToolCallResult(**told["result"]),
        **times,
    )


def _parse_time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text).astimezone(UTC)
