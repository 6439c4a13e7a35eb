"""A log of sessions of 2025 in memory: which were ended, and the events of their streams."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

from ferryman.serving.mcp.exchange import Message

Stream = list[Message | None]


@dataclass
class MemorySessionLog:
    """`SessionLog` of one process. An event is named by the number of its request, and its place in the stream."""

    ended: set[str] = field(default_factory=set)
    streams: dict[tuple[str, str], Stream] = field(default_factory=lambda: defaultdict(list))
    news: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def end(self, session: str) -> None:
        self.ended.add(session)

    async def has_ended(self, session: str) -> bool:
        return session in self.ended

    async def record(self, session: str, request: str | int, message: Message | None) -> str:
        stream = self.streams[session, str(request)]
        async with self.news:
            stream.append(message)
            self.news.notify_all()
        return f"{request}:{len(stream)}"

    def follow(self, session: str, event: str) -> AsyncGenerator[tuple[str, Message], None] | None:
        request, _, place = event.rpartition(":")
        stream = self.streams.get((session, request))
        if stream is None or not place.isdigit():
            return None
        return self._follow(stream, request, int(place))

    async def _follow(self, stream: Stream, request: str, place: int) -> AsyncGenerator[tuple[str, Message], None]:
        while True:
            async with self.news:
                while len(stream) <= place:
                    await self.news.wait()
            message, place = stream[place], place + 1
            if message is not None:
                yield f"{request}:{place}", message
                if "method" not in message:
                    return
