"""Delivery of alerts and notices: how often one is sent, after which pauses, and what becomes of it after each attempt."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol, TypeVar

from ferryman.domain.copies import replace

ATTEMPTS_MAX = 8
"""How often an alert is sent at most, until its receiver takes it."""

FIRST_PAUSE = timedelta(seconds=30)
"""How long after a first attempt the second comes; each pause after that is four times as long, up to `PAUSE_MAX`."""

PAUSE_MAX = timedelta(hours=6)
OVERDUE = timedelta(hours=24)
"""After which time an alert that is still pending is delivered again: its pauses before that add up to less."""


class AlertState(StrEnum):
    """Whether it was sent."""

    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"
    """Its receiver did not take it, as often as it was sent, or for good."""
    UNADDRESSED = "unaddressed"
    """Its workspace has no address for alerts."""


def compute_pause(attempts: int) -> timedelta:
    """Return how long to wait after so many attempts before the next."""
    return min(PAUSE_MAX, FIRST_PAUSE * int(4 ** (attempts - 1)))


class Delivered(Protocol):
    """What is delivered, an alert or a notice: each has the fields that say how far that is."""

    @property
    def attempts(self) -> int: ...


Message = TypeVar("Message", bound=Delivered)


def settle_attempt(alert: Message, *, status: int | None, reason: str, final: bool, now: datetime) -> Message:
    """Return `alert` after one more attempt, which a receiver took where `status` is 2xx; `final` lets no other follow."""
    attempts = alert.attempts + 1
    if status is not None and 200 <= status < 300:
        state = AlertState.DELIVERED
    else:
        state = AlertState.FAILED if final or attempts >= ATTEMPTS_MAX else AlertState.PENDING
    settled_at = None if state is AlertState.PENDING else now
    return replace(alert, state=state, attempts=attempts, status=status, reason=reason, settled_at=settled_at)  # type: ignore[type-var] # a dataclass
