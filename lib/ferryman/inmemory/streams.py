"""Open streams in memory."""

from __future__ import annotations

from datetime import datetime

from ferryman.domain.owners import stream as rules
from ferryman.inmemory.memory import MemoryStore


class MemoryStreams(MemoryStore):
    """`ports.Streams`."""

    async def hold(self, owner: str, stream: str, *, now: datetime, until: datetime, most: int) -> bool:
        streams = rules.hold_stream(self._memory.streams.get(owner, {}), stream, now=now, until=until, most=most)
        if streams is not None:
            self._memory.streams[owner] = streams
        return streams is not None

    async def release(self, owner: str, stream: str) -> None:
        self._memory.streams[owner] = {
            name: until for name, until in self._memory.streams.get(owner, {}).items() if name != stream
        }
