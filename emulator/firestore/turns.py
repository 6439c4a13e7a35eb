"""Turns: who may write a contended document next, first come, first served.

A turn is a courtesy and not a lock: what a commit has read is validated whatever the turns say. So a turn can lapse when
its holder has gone silent, and nothing can wait for ever. Names are taken in sorted order and a holder never waits for
more, so no circle of waiting can form.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

LAPSE_SECONDS = 5.0
"""A holder that has said nothing for so long loses its turns to those who wait."""


@dataclass(eq=False, slots=True)
class Holder:
    """Someone who takes turns; `spoke` is the event loop's time of its last sign of life, `lapse` is in seconds."""

    lapse: float = LAPSE_SECONDS
    spoke: float = 0.0
    names: list[str] = field(default_factory=list)
    granted: asyncio.Event = field(default_factory=asyncio.Event)


class WriteTurns:
    """A queue for each contended document; its head has the turn."""

    def __init__(self) -> None:
        self._queues: dict[str, deque[Holder]] = {}

    async def take(self, holder: Holder, names: Iterable[str]) -> None:
        """Wait for the turn on every name; cancelled, the holder is left with none."""
        try:
            for name in sorted(names):
                await self._join(holder, name)
        except BaseException:
            self.release(holder)
            raise
        self.touch(holder)

    def touch(self, holder: Holder) -> None:
        holder.spoke = asyncio.get_running_loop().time()

    def release(self, holder: Holder) -> None:
        """Pass every turn of the holder on."""
        for name in holder.names:
            queue = self._queues.get(name)
            if queue is None or holder not in queue:
                continue
            queue.remove(holder)
            if queue:
                self._grant(queue)
            else:
                del self._queues[name]
        holder.names.clear()

    @asynccontextmanager
    async def hold(self, names: set[str]) -> AsyncIterator[None]:
        """Have the turn for as long as the block runs on those of the names that others contend for."""
        # Only those: whoever waits for one name must not keep the others from those who want nothing else.
        contended = names & self._queues.keys()
        if not contended:
            yield
            return
        holder = Holder()
        await self.take(holder, contended)
        try:
            yield
        finally:
            self.release(holder)

    async def _join(self, holder: Holder, name: str) -> None:
        queue = self._queues.setdefault(name, deque())
        holder.names.append(name)
        queue.append(holder)
        loop = asyncio.get_running_loop()
        self.touch(holder)
        while queue[0] is not holder:
            holder.granted.clear()
            head = queue[0]
            with suppress(TimeoutError):
                async with asyncio.timeout(max(0.0, head.spoke + head.lapse - loop.time())):
                    await holder.granted.wait()
            if queue[0] is head and loop.time() >= head.spoke + head.lapse:
                queue.popleft()
                self._grant(queue)
        self.touch(holder)

    def _grant(self, queue: deque[Holder]) -> None:
        """Tell the new head; its time starts now."""
        self.touch(queue[0])
        queue[0].granted.set()
