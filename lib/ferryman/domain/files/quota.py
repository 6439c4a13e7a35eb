"""Quotas of files: how many bytes a workspace keeps, and how many are reserved for writes under way.

A write reserves before it begins, settles when its end is known, and releases when its end is recorded where no delivery
begins it again: all under its own name. In between, a delivery that comes twice reserves once and settles once; what its writer
did not live to settle stays reserved. So the sum of both never passes the limit, and never misses a byte that may be stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from ferryman.domain.copies import replace
from ferryman.domain.files.writes import StoredWrite

SETTLED_LIFETIME = timedelta(days=1)
"""A settled write that nobody released is forgotten then: four times as long as any execution may take."""

RESERVATIONS_MAX = 1_000
"""Writes of a workspace under way at once: each has some hundred bytes of the quota's document, which holds 1 MiB."""


class QuotaExceededError(Exception):
    """The workspace would keep more bytes than its limit; nothing was reserved.

    `will_fit` tells that it may once writes under way have ended.
    """

    def __init__(self, quota: FileQuota, size_bytes: int, limit_bytes: int) -> None:
        free = max(0, limit_bytes - quota.used_bytes - quota.reserved_bytes)
        super().__init__(
            f"{size_bytes:,} bytes are more than the {free:,} that are free of the {limit_bytes:,} of this workspace; "
            "delete files that are not needed"
        )
        self.used_bytes = quota.used_bytes
        self.reserved_bytes = quota.reserved_bytes
        self.limit_bytes = limit_bytes
        self.will_fit = quota.used_bytes + size_bytes <= limit_bytes


class TooManyWritesError(Exception):
    """The workspace has `RESERVATIONS_MAX` writes under way; nothing was reserved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReservation:
    """Bytes reserved for one write of the file `key`, and since when. One that is settled has none, and only tells that it
    was."""

    size_bytes: int
    reserved_at: datetime
    is_settled: bool = False
    key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileQuota:
    """What a workspace keeps in files; `reservations` are by the names of their writes."""

    id: str
    used_bytes: int = 0
    reservations: Mapping[str, FileReservation] = field(default_factory=dict)

    @property
    def reserved_bytes(self) -> int:
        """All bytes that are reserved."""
        return sum(reservation.size_bytes for reservation in self.reservations.values())


def reserve_bytes(
    quota: FileQuota, write: str, *, size_bytes: int, limit_bytes: int, now: datetime, key: str = ""
) -> FileQuota:
    """Return the quota with `size_bytes` reserved for `write`, or unchanged where it has a reservation.

    A write that adds nothing, such as a deletion, reserves 0 bytes, also beyond the limit. Raise `QuotaExceededError`,
    `TooManyWritesError`, and ValueError for a negative size.
    """
    if size_bytes < 0:
        raise ValueError("a write has 0 bytes or more")
    if write in quota.reservations:
        return quota
    quota = _forget_settled(quota, before=now - SETTLED_LIFETIME)
    if len(quota.reservations) >= RESERVATIONS_MAX:
        raise TooManyWritesError(f"{RESERVATIONS_MAX:,} writes of this workspace are under way")
    if size_bytes and quota.used_bytes + quota.reserved_bytes + size_bytes > limit_bytes:
        raise QuotaExceededError(quota, size_bytes, limit_bytes)
    reservation = FileReservation(size_bytes=size_bytes, reserved_at=now, key=key)
    return replace(quota, reservations={**quota.reservations, write: reservation})


def list_abandoned(quota: FileQuota, now: datetime) -> tuple[tuple[str, FileReservation], ...]:
    """Return the writes that nobody delivers any longer and nobody has settled, by name, the oldest first.

    Their executions were ended while the outcome was unknown: whether they have stored anything is in the bucket alone.
    """
    before = now - SETTLED_LIFETIME
    abandoned = [pair for pair in quota.reservations.items() if not pair[1].is_settled and pair[1].reserved_at < before]
    return tuple(sorted(abandoned, key=lambda pair: pair[1].reserved_at))


def close_write(quota: FileQuota, write: str, writes: Sequence[StoredWrite]) -> FileQuota:
    """Return the quota after the last delivery of a write: settled where it stored anything (`writes`), and released.

    It is the same where that has happened before: a write that is not reserved is closed.
    """
    if write not in quota.reservations:
        return quota
    return release_bytes(settle_writes(quota, writes) if writes else quota, write)


def settle_writes(quota: FileQuota, writes: Sequence[StoredWrite]) -> FileQuota:
    """Return the quota after a write, the first of `writes`, and those before it under the same key, from the latest on.

    Each is settled once, also one before it that its writer did not live to settle; what is not reserved is settled already.
    Raise ValueError where the first is not reserved, or grew beyond what it had reserved; one before it that did is left as it
    is.
    """
    if not writes or writes[0].name not in quota.reservations:
        raise ValueError("a write is reserved before it is settled")
    if not _may_settle(writes[0], quota.reservations[writes[0].name]):
        raise ValueError("a write keeps no more bytes than it reserved")
    reservations, used_bytes = dict(quota.reservations), quota.used_bytes
    for write in reversed(writes):
        reservation = reservations.get(write.name)
        if reservation is None or reservation.is_settled or not _may_settle(write, reservation):
            continue
        # never below nothing: a file may have been there before anybody counted
        used_bytes = max(0, used_bytes + write.new_bytes - write.old_bytes)
        reservations[write.name] = replace(reservation, size_bytes=0, is_settled=True)
    if reservations == quota.reservations:
        return quota
    return replace(quota, used_bytes=used_bytes, reservations=reservations)


def may_come_again(quota: FileQuota, writes: Sequence[StoredWrite]) -> bool:
    """Tell whether one of `writes` that stored bytes is not released: its delivery may come again, and what a deletion has left
    tells it then that it has happened. A deletion that comes again finds nothing, and does nothing."""
    return any(write.new_bytes > 0 and write.name in quota.reservations for write in writes)


def _may_settle(write: StoredWrite, reservation: FileReservation) -> bool:
    if reservation.is_settled:
        return True
    return min(write.old_bytes, write.new_bytes) >= 0 and write.new_bytes - write.old_bytes <= reservation.size_bytes


def release_bytes(quota: FileQuota, write: str) -> FileQuota:
    """Return the quota without the reservation of a write that is settled, or that stored nothing."""
    if write not in quota.reservations:
        return quota
    return replace(quota, reservations={name: reservation for name, reservation in quota.reservations.items() if name != write})


def _forget_settled(quota: FileQuota, *, before: datetime) -> FileQuota:
    rest = {
        name: reservation
        for name, reservation in quota.reservations.items()
        if not reservation.is_settled or reservation.reserved_at >= before
    }
    return replace(quota, reservations=rest)
