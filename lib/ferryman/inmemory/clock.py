"""A clock that is moved by hand, and ids that count up."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

START = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


class ManualClock:
    """`ports.Clock`: its time changes only by `turn`."""

    def __init__(self, now: datetime = START) -> None:
        self._now = now

    def now(self) -> datetime:
        return self._now

    def turn(self, by: timedelta | float) -> datetime:
        """Move on by a timedelta or a number of seconds, and return the new time."""
        self._now += by if isinstance(by, timedelta) else timedelta(seconds=by)
        return self._now


class CountingIds:
    """`ports.Ids` for tests: guessable, since it counts."""

    def __init__(self) -> None:
        self._count = 0

    def new(self, prefix: str) -> str:
        self._count += 1
        return f"{prefix}_{self._count:06d}"
