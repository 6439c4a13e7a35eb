"""Single-flight: work that many wait for at once is done once in a process (S1-32)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

Answer = TypeVar("Answer")


@dataclass(slots=True)
class _Flight(Generic[Answer]):
    work: asyncio.Future[Answer]
    waiting: int = 0


class SingleFlight(Generic[Answer]):
    """Work under way, by key. It ends when its last waiter goes, and goes on when any other does."""

    def __init__(self) -> None:
        self._under_way: dict[Hashable, _Flight[Answer]] = {}

    async def share(self, key: Hashable, work: Callable[[], Awaitable[Answer]]) -> Answer:
        """Return the answer of `work`, or of work under the same key that began before and is still under way."""
        flight = self._under_way.get(key)
        if flight is None:
            flight = self._under_way[key] = _Flight(asyncio.ensure_future(work()))
            begun = flight
            flight.work.add_done_callback(lambda _: self._remove(key, begun))
        flight.waiting += 1
        try:
            return await asyncio.shield(flight.work)
        finally:
            flight.waiting -= 1
            if not flight.waiting and not flight.work.done():
                flight.work.cancel()
                self._remove(key, flight)

    def _remove(self, key: Hashable, flight: _Flight[Answer]) -> None:
        if self._under_way.get(key) is flight:
            del self._under_way[key]
        if flight.work.done() and not flight.work.cancelled():
            flight.work.exception()  # retrieved, so that asyncio does not log one that nobody waited for
