"""Transitions: how an execution and its calls change, and which fields of them each change stores, whatever the store."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from ferryman.domain.calls.call import Ticket, TicketState, ToolCallResult
from ferryman.domain.executions.execution import Execution, Status

LEASE_FIELDS = ("lease", "pending_model_calls", "credits_held")  # what the holder of a lease stores with it
SETUP_FIELDS = ("policy", "credits_reserved", "events", "receipts")

TURN_FIELDS = (
    *("iterations", "credits_used", "usage", "tool_calls", "tool_calls_total", "rate", "events", "receipts"),
    *LEASE_FIELDS,
)
"""What a turn's commit stores of the execution; the cancel flag is never among it."""

ENDING_FIELDS = (*TURN_FIELDS, "status", "output", "error", "completed_at")
CANCEL_FIELDS = ("cancel_requested", "status", "error", "completed_at")

CLAIM_FIELDS = ("state", "attempt", "sent_at", "deadline")  # what claiming a call stores of its ticket
RESULT_FIELDS = ("state", "settled_at", "result", "in_doubt")  # what settling a call stores of its ticket


def settle_ticket(ticket: Ticket, result: ToolCallResult, *, now: datetime, in_doubt: bool) -> Ticket:
    """Return the ticket with its result."""
    return replace(ticket, state=TicketState.SETTLED, settled_at=now, result=result, in_doubt=in_doubt)


def cancel_execution(current: Execution, *, now: datetime) -> Execution:
    """Return the execution with its cancel flag; one that has not started ends at once."""
    flagged = replace(current, cancel_requested=True)
    if current.status is not Status.QUEUED:
        return flagged
    return replace(flagged, status=Status.KILLED, error="cancelled before it started", completed_at=now)
