"""Single-flight: work that many wait for at once is done once in a process (S1-32)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

Answer = TypeVar("Answer")


@dataclass(slots=True)
class _SharedWork(Generic[Answer]):
    work: asyncio.Future[Answer]
    waiting: int = 0


class SingleFlight(Generic[Answer]):
    """Running work by key. It is cancelled when its last waiter is, and goes on while there are others."""

    def __init__(self) -> None:
        self._running: dict[Hashable, _SharedWork[Answer]] = {}

    async def share(self, key: Hashable, work: Callable[[], Awaitable[Answer]]) -> Answer:
        """Return the answer of `work`, or of work under the same key that is running already."""
        shared = self._running.get(key)
        if shared is None:
            shared = self._running[key] = _SharedWork(asyncio.ensure_future(work()))
            begun = shared
            shared.work.add_done_callback(lambda _: self._remove(key, begun))
        shared.waiting += 1
        try:
            return await asyncio.shield(shared.work)
        finally:
            shared.waiting -= 1
            if not shared.waiting and not shared.work.done():
                shared.work.cancel()
                self._remove(key, shared)

    def _remove(self, key: Hashable, shared: _SharedWork[Answer]) -> None:
        if self._running.get(key) is shared:
            del self._running[key]
        if shared.work.done() and not shared.work.cancelled():
            shared.work.exception()  # retrieved, so that asyncio does not log one that nobody waited for
