"""The messages of one request on their way out: notifications, and the last one with its result or error, in order."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from ferryman.serving.mcp.answers import write_message
from ferryman.serving.mcp.errors import McpError
from ferryman.serving.mcp.exchange import Message
from ferryman.serving.streams import frame

QUEUE_MAX = 16
"""Messages that may wait for a slow client; a request that has more waits with it."""

RETRY_MS = 200
"""After how many milliseconds a client of 2025 comes back for the rest of a stream."""


@dataclass(frozen=True, slots=True)
class OutgoingEvent:
    """A message on its way, as JSON; None for an event without one. `id` names it where a stream may be resumed."""

    text: str | None
    is_last: bool = False
    id: str = ""
    ends_stream: bool = False
    """Whether the connection ends here, and the client comes back for the rest."""

    def write(self) -> str:
        """Return the event as it is sent."""
        head = f"id: {self.id}\n" if self.id else ""
        if self.text is None:
            return f"{head}retry: {RETRY_MS}\ndata: \n\n" if self.id else frame.KEEP_ALIVE
        return f"{head}event: message\ndata: {self.text}\n\n"


class Outgoing:
    """The messages of one request, in order: notifications, and the last one with its result or error."""

    def __init__(self, *, with_stream: bool, record: Callable[[Message | None], Awaitable[str]] | None = None) -> None:
        self._queue: asyncio.Queue[OutgoingEvent] = asyncio.Queue(QUEUE_MAX)
        self._with_stream = with_stream
        self._record = record
        self._is_closed = False
        self.error: McpError | None = None
        """The error that the last message has."""

    async def emit(self, message: Message) -> None:
        """Send a message before the last one. Nothing is sent to a client that takes no event stream, or has left.

        Raise ValueError for a message that is not JSON.
        """
        if self._with_stream:
            text = write_message(message)
            await self._put(OutgoingEvent(text, id=await self._log(message)))

    async def end(self, message: Message, error: McpError | None = None) -> None:
        """Send the last message. Raise ValueError for one that is not JSON; another one may be sent then."""
        text = write_message(message)
        self.error = error
        await self._put(OutgoingEvent(text, is_last=True, id=await self._log(message)))

    async def end_stream(self) -> None:
        """End the connection and go on; the client comes back for what follows. Only where streams may be resumed."""
        if self._with_stream and self._record is not None:
            await self._put(OutgoingEvent(None, ends_stream=True))

    def close(self) -> None:
        """Drop what waits and whatever follows: the client has left, and the work goes on without it."""
        self._is_closed = True
        while not self._queue.empty():
            self._queue.get_nowait()

    def pop_last(self) -> OutgoingEvent | None:
        """Return the last message if it is there, and nothing before it."""
        if self._queue.qsize() != 1:
            return None
        event = self._queue.get_nowait()
        if event.is_last:
            return event
        self._queue.put_nowait(event)
        return None

    async def get(self) -> OutgoingEvent:
        """Return what is next."""
        return await self._queue.get()

    async def begin(self) -> None:
        """Begin a stream that may be resumed with an event that names its beginning, where there is a log."""
        if self._with_stream and self._record is not None:
            await self._put(OutgoingEvent(None, id=await self._record(None)))

    async def _log(self, message: Message) -> str:
        return "" if self._record is None else await self._record(message)

    async def _put(self, event: OutgoingEvent) -> None:
        if not self._is_closed:
            await self._queue.put(event)
