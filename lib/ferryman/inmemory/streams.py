"""Open streams in memory."""

from __future__ import annotations

from datetime import datetime

from ferryman.domain.owners import stream as rules
from ferryman.inmemory.memory import Memory


class MemoryStreams:
    """`ports.Streams`."""

    def __init__(self, memory: Memory) -> None:
        self._held = memory.streams

    async def hold(self, owner: str, stream: str, *, now: datetime, until: datetime, most: int) -> bool:
        held = rules.hold_stream(self._held.get(owner, {}), stream, now=now, until=until, most=most)
        if held is not None:
            self._held[owner] = held
        return held is not None

    async def release(self, owner: str, stream: str) -> None:
        self._held[owner] = {name: until for name, until in self._held.get(owner, {}).items() if name != stream}
