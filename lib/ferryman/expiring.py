"""Secrets in memory for a while: a cache bounded in time and in number."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextvars import Context
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class ExpiringCache(Generic[Key, Value]):
    """The newest `most` values, each for `life_s` seconds after it was put, however often it is read.

    A value is dropped when its time is over, not only when somebody asks for it; where the platform gives the process no time
    then, as soon as it does. One timer does that for all of them. Of one event loop; `clock` counts seconds.
    """

    def __init__(self, *, most: int, life_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._life_s = life_s
        self._clock = clock
        self._entries: dict[Key, tuple[float, Value]] = {}
        """With the time at which each expires, the oldest first."""
        self._timer: tuple[asyncio.AbstractEventLoop, asyncio.TimerHandle] | None = None

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
        self.drop_expired()
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return  # then `put` and `drop_expired` alone drop what has expired
        if self._timer is None or self._timer[0] is not loop:
            self._set_timer(loop)

    def _set_timer(self, loop: asyncio.AbstractEventLoop) -> None:
        """Have `loop` drop the oldest value in time, and go on for as long as there are any.

        The timer has an empty context: that of a request would stay in memory with it.
        """
        oldest = next(iter(self._entries.values()), None)
        if oldest is None:
            self._timer = None
        else:
            left_s = max(oldest[0] - self._clock(), 0.0)
            self._timer = loop, loop.call_later(left_s, self._drop_in_time, loop, context=Context())

    def _drop_in_time(self, loop: asyncio.AbstractEventLoop) -> None:
        self.drop_expired()
        self._set_timer(loop)

    def drop_expired(self) -> None:
        """Drop what has expired."""
        now = self._clock()
        while self._entries and self._entries[oldest := next(iter(self._entries))][0] <= now:
            del self._entries[oldest]

    def clear(self) -> None:
        """Drop everything."""
        self._entries.clear()
