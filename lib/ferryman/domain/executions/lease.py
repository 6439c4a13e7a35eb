"""The lease with its fencing token, the epoch, and how an execution and its calls change, with the fields that each stores."""

from __future__ import annotations

from datetime import datetime, timedelta

from ferryman.domain.approvals.approval import Approval
from ferryman.domain.calls.call import Ticket, TicketState, ToolCallResult
from ferryman.domain.copies import replace
from ferryman.domain.executions.execution import Execution, Lease, Status
from ferryman.domain.stale import StaleError


def acquire_lease(current: Execution, *, slice: int, holder: str, now: datetime, length: timedelta) -> Execution | None:
    """Return the execution leased to `holder` for this slice, or None: it has ended, has a later slice, or is leased."""
    is_leased = current.lease is not None and current.lease.expires_at > now
    if current.status.terminal or slice < current.slice or (current.status is Status.RUNNING and is_leased):
        return None
    return replace(
        current,
        status=Status.RUNNING,
        started_at=current.started_at or now,
        lease=Lease(holder=holder, epoch=current.epoch + 1, expires_at=now + length),
    )


def check_fence(current: Execution, claimed: Execution, now: datetime) -> Lease:
    """Return the lease under which `claimed` may be written over `current`. Raise `StaleError` where there is none."""
    lease = current.lease
    if lease is None or claimed.lease is None or lease.epoch != claimed.lease.epoch or current.status.terminal:
        raise StaleError("the lease has passed to another holder")
    if lease.expires_at <= now:
        raise StaleError("the lease has expired")
    return lease


def check_epoch(current: Execution, epoch: int, now: datetime) -> Execution:
    """Return `current` if it runs under a lease of this epoch. Raise `StaleError` otherwise."""
    lease = current.lease
    if current.status is not Status.RUNNING or lease is None or lease.epoch != epoch or lease.expires_at <= now:
        raise StaleError("the lease has passed to another holder or expired")
    return current


def release_lease(current: Execution, claimed: Execution, now: datetime) -> Execution:
    """Return `current` without a holder; the epoch stays, so no further write of this holder is accepted. Raise `StaleError`.

    The credits held by `claimed` are kept only while its last turn is the stored one: a commit whose answer was lost came
    after.
    """
    released = replace(current, lease=replace(check_fence(current, claimed, now), expires_at=now))
    if current.events != claimed.events:
        return released
    return replace(
        released,
        pending_model_calls=claimed.pending_model_calls,
        credits_held=claimed.credits_held,
        model_trouble=claimed.model_trouble,
    )


def hand_over_slice(current: Execution, claimed: Execution, now: datetime) -> Execution:
    """Return `current` released for the next slice. Raise `StaleError`."""
    return replace(release_lease(current, claimed, now), slice=current.slice + 1)


LEASE_FIELDS = ("lease", "pending_model_calls", "credits_held", "model_trouble")  # what the holder of a lease stores with it
SETUP_FIELDS = (
    *("policy", "credits_reserved", "events", "receipts", "pending_model_calls", "credits_held"),
    "begins_title",
)

TURN_FIELDS = (
    *("iterations", "credits_used", "usage", "tool_calls", "tool_calls_total", "rate", "events", "receipts"),
    *LEASE_FIELDS,
)
"""What a turn's commit stores of the execution; the cancel flag is never among it."""


def list_turn_fields(execution: Execution) -> tuple[str, ...]:
    """Return what the commit of a turn stores of `execution`: of a direct call its arguments, too, as their scan left them."""
    return (*TURN_FIELDS, "input") if execution.called_tool else TURN_FIELDS


PLAN_FIELDS = ("events", "receipts")  # what the calls that a call asks for change; the turn's own commit has the rest
WAITING_FIELDS = ("waiting_for", "waiting_since", "waited_s", "credits_reserved", "credits_returned")
ENDING_FIELDS = (*TURN_FIELDS, *WAITING_FIELDS, "status", "output", "error", "completed_at")
CANCEL_FIELDS = ("cancel_requested", "cancelled_by", "status", "error", "completed_at")

CLAIM_FIELDS = ("state", "attempt", "sent_at", "deadline")  # what claiming a call stores of its ticket
WAIT_FIELDS = (
    "state",
    "approved",
    "unanswered",
    "progress",
    "approval",
    "form_digest",
    "asks",
    "sent_at",
    "deadline",
    "continuation",
)  # what asking a person stores of a ticket
RELEASE_FIELDS = ("state", "sent_at", "deadline", "progress")  # what releasing a call stores of its ticket
POSTPONE_FIELDS = (
    *("state", "asks", "resumed_at", "continuation", "approved", "unanswered", "progress"),
)  # what postponing a call stores of its ticket
RESULT_FIELDS = (
    "state",
    "settled_at",
    "result",
    "in_doubt",
    "approved",
    "unanswered",
    "progress",
)  # what settling a call stores of its ticket


def settle_ticket(ticket: Ticket, result: ToolCallResult, *, now: datetime, in_doubt: bool) -> Ticket:
    """Return the ticket with its result."""
    return replace(ticket, state=TicketState.SETTLED, settled_at=now, result=result, in_doubt=in_doubt, progress=None)


def answer_ticket(ticket: Ticket, result: ToolCallResult) -> Ticket:
    """Return a sent ticket with the result that is settled once its overflow is kept."""
    return replace(ticket, result=result, progress=None)


def wait_ticket(ticket: Ticket, approval: Approval, continuation: bytes = b"") -> Ticket:
    """Return a claimed ticket as one that waits for a person to decide about `approval`.

    Nothing of it was sent, or what goes on of it is the `continuation`; without one, an earlier one stays.
    """
    waiting = replace(ticket, approval=approval.id, form_digest=approval.digest, asks=ticket.asks + 1)
    waiting = replace(waiting, continuation=continuation or ticket.continuation, approved=None, unanswered="")
    return replace(waiting, state=TicketState.WAITING, sent_at=None, deadline=None, progress=None)


def postpone_ticket(ticket: Ticket, continuation: bytes, *, until: datetime) -> Ticket:
    """Return a claimed ticket whose call goes on at its host, which is asked again at `until`."""
    return replace(
        ticket, state=TicketState.INTENDED, asks=ticket.asks + 1, resumed_at=until, continuation=continuation, progress=None
    )


def release_ticket(ticket: Ticket) -> Ticket:
    """Return a claimed ticket as it was before an attempt that sent nothing."""
    return replace(
        ticket, state=TicketState.INTENDED, sent_at=ticket.sent_at if ticket.goes_on else None, deadline=None, progress=None
    )


def cancel_execution(current: Execution, *, by: str, now: datetime) -> Execution:
    """Return the execution with its cancel flag, and by whom it was set first; one that has not started ends at once."""
    flagged = replace(current, cancel_requested=True, cancelled_by=current.cancelled_by if current.cancel_requested else by)
    if current.status is not Status.QUEUED:
        return flagged
    return replace(flagged, status=Status.KILLED, error="cancelled before it started", completed_at=now)
