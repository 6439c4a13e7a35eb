"""Rate limiting: a token bucket for each owner, so that one who asks often waits, and costs nobody else anything."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Generic, TypeVar

Value = TypeVar("Value")

FORGET_FROM = 1_000
"""With so many buckets, those that have filled up again are forgotten."""


@dataclass(frozen=True, slots=True)
class Rate:
    """So many `at_once`, and one more `every` so long."""

    at_once: int
    every: timedelta


class Rates:
    """The buckets of one process. A bucket is kept as the moment from which on it is full: memory is that of recent owners."""

    def __init__(self) -> None:
        self._full_at: dict[str, datetime] = {}

    def __len__(self) -> int:
        """Return how many buckets are kept."""
        return len(self._full_at)

    def take(self, owner: str, rate: Rate, *, now: datetime) -> timedelta:
        """Take one of `owner`'s tokens and return zero; where there is none, return after how long there will be one."""
        filled = max(self._full_at.get(owner, now), now) + rate.every
        missing = filled - now - rate.at_once * rate.every
        if missing > timedelta(0):
            return missing
        if len(self._full_at) >= FORGET_FROM:
            self._full_at = {name: full_at for name, full_at in self._full_at.items() if full_at > now}
        self._full_at[owner] = filled
        return timedelta(0)


class Remembered(Generic[Value]):
    """Values that hold for a while, each under its key; what has passed is forgotten with the next one."""

    def __init__(self) -> None:
        self._values: dict[Hashable, tuple[Value, datetime]] = {}

    def __len__(self) -> int:
        """Return how many values are kept."""
        return len(self._values)

    def find(self, key: Hashable, *, now: datetime) -> Value | None:
        """Return what holds under `key`, None where nothing does."""
        if key not in self._values:
            return None
        value, until = self._values[key]
        return value if now < until else None

    def keep(self, key: Hashable, value: Value, *, now: datetime, until: datetime) -> None:
        """Have `value` hold under `key` up to `until`."""
        self._values = {name: entry for name, entry in self._values.items() if now < entry[1]}
        self._values[key] = (value, until)
