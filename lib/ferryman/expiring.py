"""Secrets in memory for a while: a cache bounded in time and in number."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class ExpiringCache(Generic[Key, Value]):
    """The newest `most` values, each for `life_s` seconds after it was put, however often it is read.

    A value is dropped when its time is over, not only when somebody asks for it; where the platform gives the process no time
    then, as soon as it does. Of one event loop; `clock` counts seconds.
    """

    def __init__(self, *, most: int, life_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._life_s = life_s
        self._clock = clock
        self._entries: dict[Key, tuple[float, Value]] = {}
        """With the time at which each expires, the oldest first."""

    def __len__(self) -> int:
        """Return how many values are in memory."""
        return len(self._entries)

    def get(self, key: Key) -> Value | None:
        """Return the value, or None where it was not put or is not kept any longer."""
        expires, value = self._entries.get(key, (0.0, None))
        return value if expires > self._clock() else None

    def pop(self, key: Key) -> Value | None:
        """Return the value as `get` does, and drop it."""
        value = self.get(key)
        self._entries.pop(key, None)
        return value

    def put(self, key: Key, value: Value) -> None:
        """Keep `value` from now on, in the place of any other of its key."""
        self._entries.pop(key, None)
        self._entries[key] = (self._clock() + self._life_s, value)
        while len(self._entries) > self._most:
            del self._entries[next(iter(self._entries))]
        with suppress(RuntimeError):  # no event loop runs: then `put` and `drop_expired` alone drop what has expired
            asyncio.get_running_loop().call_later(self._life_s, self.drop_expired)
        self.drop_expired()

    def drop_expired(self) -> None:
        """Drop what has expired."""
        now = self._clock()
        for key in [key for key, (expires, _) in self._entries.items() if expires <= now]:
            del self._entries[key]

    def clear(self) -> None:
        """Drop everything."""
        self._entries.clear()
