"""Waiting for people: an execution without lease, slot and reservation, whose time limit does not run."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal

from ferryman.domain.copies import replace
from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.lease import LEASE_FIELDS, WAITING_FIELDS, hand_over_slice

PARK_FIELDS = (*LEASE_FIELDS, "slice", *WAITING_FIELDS)
"""What parking stores of an execution; resuming stores the `WAITING_FIELDS` alone."""

NOTHING = Decimal(0)


def park_execution(current: Execution, claimed: Execution, *, waiting_for: str, keep: Decimal, now: datetime) -> Execution:
    """Return `current` released for the next slice, with at most `keep` credits reserved. Raise `StaleError`.

    One that is parked again without having gone on has waited since it was parked first.
    """
    left_reserved = min(keep, current.credits_reserved)
    return replace(
        hand_over_slice(current, claimed, now),
        waiting_for=waiting_for,
        waiting_since=current.waiting_since or now,
        credits_reserved=left_reserved,
        credits_returned=current.credits_returned + current.credits_reserved - left_reserved,
    )


def resume_execution(current: Execution, claimed: Execution, *, reserve: Decimal, now: datetime) -> Execution:
    """Return `claimed` as it goes on, with `reserve` credits reserved, or with those of `current` where they are more."""
    ended = end_wait(current, now)
    added = max(NOTHING, reserve - current.credits_reserved)
    return replace(
        claimed,
        waiting_for=ended.waiting_for,
        waiting_since=ended.waiting_since,
        waited_s=ended.waited_s,
        credits_reserved=current.credits_reserved + added,
        credits_returned=max(NOTHING, current.credits_returned - added),
    )


def end_wait(execution: Execution, now: datetime) -> Execution:
    """Return the execution as one that waits for nobody, with how long it has waited."""
    if execution.waiting_since is None:
        return execution
    return replace(execution, waiting_for="", waiting_since=None, waited_s=measure_waited(execution, now).total_seconds())


def measure_waited(execution: Execution, now: datetime) -> timedelta:
    """Return for how long the execution has waited for people until `now`."""
    waited = timedelta(seconds=execution.waited_s)
    return waited if execution.waiting_since is None else waited + max(timedelta(0), now - execution.waiting_since)


def is_over_time(execution: Execution, limit: timedelta, now: datetime) -> bool:
    """Tell whether the execution has added longer than `limit`, which does not run while it waits for people."""
    return execution.started_at is not None and now - execution.started_at - measure_waited(execution, now) > limit
