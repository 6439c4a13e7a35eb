"""The lease: by which rules an execution is taken, and when what its holder does still counts."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from ferryman.domain.execution import Execution, Lease, Status
from ferryman.domain.stale import Stale


def taken(current: Execution, *, slice: int, holder: str, now: datetime, length: timedelta) -> Execution | None:
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


def fence(current: Execution, held: Execution, now: datetime) -> Lease:
    """The lease under which `held` may still be written over `current`; raises `Stale` when there is none."""
    lease = current.lease
    if lease is None or held.lease is None or lease.epoch != held.lease.epoch or current.status.terminal:
        raise Stale("the lease has moved on")
    if lease.expires_at <= now:
        raise Stale("the lease has run out")
    return lease


def under(current: Execution, epoch: int, now: datetime) -> Execution:
    """`current`, when it runs under a lease of this epoch; raises `Stale` otherwise."""
    lease = current.lease
    if current.status is not Status.RUNNING or lease is None or lease.epoch != epoch or lease.expires_at <= now:
        raise Stale("the lease has moved on or run out")
    return current


def given_up(current: Execution, held: Execution, now: datetime) -> Execution:
    """`current` as its holder leaves it; the epoch stays, so that nothing of this holder's is accepted any more.

    What `held` sets aside holds only while its last turn is the stored one: a commit whose answer was lost has moved on.
    Raises `Stale`.
    """
    left = replace(current, lease=replace(fence(current, held, now), expires_at=now))
    if current.events != held.events:
        return left
    return replace(left, asked=held.asked, credits_held=held.credits_held)


def handed_over(current: Execution, held: Execution, now: datetime) -> Execution:
    """`current` given up for the next slice."""
    return replace(given_up(current, held, now), slice=current.slice + 1)
