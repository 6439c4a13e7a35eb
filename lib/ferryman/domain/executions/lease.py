"""The lease: by which rules an execution is taken, and when what its holder does still counts."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from ferryman.domain.executions.execution import Execution, Lease, Status
from ferryman.domain.stale import StaleError


def acquire_lease(current: Execution, *, slice: int, holder: str, now: datetime, length: timedelta) -> Execution | None:
    """The execution as `holder` takes it for this slice, or None: it has ended, went on to a later slice, or is held."""
    held = current.lease is not None and current.lease.expires_at > now
    if current.status.terminal or slice < current.slice or (current.status is Status.RUNNING and held):
        return None
    return replace(
        current,
        status=Status.RUNNING,
        started_at=current.started_at or now,
        lease=Lease(holder=holder, epoch=current.epoch + 1, expires_at=now + length),
    )


def check_fence(current: Execution, held: Execution, now: datetime) -> Lease:
    """The lease under which `held` may still be written over `current`; raises `StaleError` when there is none."""
    lease = current.lease
    if lease is None or held.lease is None or lease.epoch != held.lease.epoch or current.status.terminal:
        raise StaleError("the lease has moved on")
    if lease.expires_at <= now:
        raise StaleError("the lease has run out")
    return lease


def check_epoch(current: Execution, epoch: int, now: datetime) -> Execution:
    """`current`, when it runs under a lease of this epoch; raises `StaleError` otherwise."""
    lease = current.lease
    if current.status is not Status.RUNNING or lease is None or lease.epoch != epoch or lease.expires_at <= now:
        raise StaleError("the lease has moved on or run out")
    return current


def release_lease(current: Execution, held: Execution, now: datetime) -> Execution:
    """`current` as its holder leaves it; the epoch stays, so that nothing of this holder's is accepted any more.

    What `held` sets aside holds only while its last turn is the stored one: a commit whose answer was lost has moved on.
    Raises `StaleError`.
    """
    left = replace(current, lease=replace(check_fence(current, held, now), expires_at=now))
    if current.events != held.events:
        return left
    return replace(left, asked=held.asked, credits_held=held.credits_held)


def hand_over_slice(current: Execution, held: Execution, now: datetime) -> Execution:
    """`current` given up for the next slice."""
    return replace(release_lease(current, held, now), slice=current.slice + 1)
