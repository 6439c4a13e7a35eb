"""Flights: work that many wait for and that is done once, in one process."""

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


class Flights(Generic[Answer]):
    """What is under way just now, by key. It ends with its last waiter, and lives on when any other goes."""

    def __init__(self) -> None:
        self._under_way: dict[Hashable, _Flight[Answer]] = {}

    async def share(self, key: Hashable, work: Callable[[], Awaitable[Answer]]) -> Answer:
        """The answer of `work`, or of the same work that somebody else began and that is still under way."""
        flight = self._under_way.get(key)
        if flight is None:
            flight = self._under_way[key] = _Flight(asyncio.ensure_future(work()))
            begun = flight
            flight.work.add_done_callback(lambda _: self._ended(key, begun))
        flight.waiting += 1
        try:
            return await asyncio.shield(flight.work)
        finally:
            flight.waiting -= 1
            if not flight.waiting and not flight.work.done():
                flight.work.cancel()
                self._ended(key, flight)

    def _ended(self, key: Hashable, flight: _Flight[Answer]) -> None:
        if self._under_way.get(key) is flight:
            del self._under_way[key]
        if flight.work.done() and not flight.work.cancelled():
            flight.work.exception()  # looked at, so that asyncio does not log one that nobody waited for
