"""Running a request: one JSON answer, or an event stream where notifications go before the result or it takes long.

A client of 2026 that disconnects cancels its request; one of 2025 does so with a notification.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from ferryman.serving.mcp.answers import MEDIA_TYPE, write_message
from ferryman.serving.mcp.errors import McpError
from ferryman.serving.mcp.exchange import Message
from ferryman.serving.streams import frame

HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
QUEUE_MAX = 16
"""Messages that may wait for a slow client; a request that has more waits with it."""

RETRY_MS = 200
"""After how many milliseconds a client of 2025 comes back for the rest of a stream."""

STREAM_MEDIA_TYPE = frame.MEDIA_TYPE


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


async def run(
    request: Request,
    work: Callable[[Outgoing], Awaitable[None]],
    *,
    accepts: frozenset[str],
    stream_after_s: float,
    is_cancelled_by_leaving: bool = True,
    register: Callable[[asyncio.Task[None]], None] | None = None,
    record: Callable[[Message | None], Awaitable[str]] | None = None,
    is_legacy: bool = False,
) -> Response:
    """Return the response of a request whose `work` sends its messages into `Outgoing`.

    `accepts` holds the media types that the client takes. `register` is given the task before it runs. `record` stores the
    events of a stream that may be resumed, and names them.
    """
    outgoing = Outgoing(with_stream=STREAM_MEDIA_TYPE in accepts, record=record)
    task = asyncio.create_task(_work(work, outgoing))
    if register is not None:
        register(task)
    if MEDIA_TYPE in accepts and (at_once := await _find_answer_at_once(outgoing, task)) is not None:
        return _write_json(at_once, outgoing.error, is_legacy=is_legacy)
    leaving = asyncio.create_task(_wait_for_leaving(request.receive))
    stream = MessageStream(outgoing, task, leaving, is_cancelled_by_leaving=is_cancelled_by_leaving)
    is_handed_over = False
    try:
        event = await stream.get_next(stream_after_s if STREAM_MEDIA_TYPE in accepts else None)
        if event.is_last and MEDIA_TYPE in accepts:
            return _write_json(event, outgoing.error, is_legacy=is_legacy)
        stream.first = event
        is_handed_over = True
        return stream
    except LeftError:
        return Response(media_type=STREAM_MEDIA_TYPE)  # of a request that was cancelled by name: no message follows
    finally:
        if not is_handed_over:
            await stream.close()


async def _work(work: Callable[[Outgoing], Awaitable[None]], outgoing: Outgoing) -> None:
    await outgoing.begin()
    await work(outgoing)


async def _find_answer_at_once(outgoing: Outgoing, task: asyncio.Task[None]) -> OutgoingEvent | None:
    """Let the work run until it waits for something, and return its answer where it did not have to."""
    try:
        await asyncio.sleep(0)
    except asyncio.CancelledError:
        task.cancel()
        raise
    return outgoing.pop_last() if task.done() else None


async def _wait_for_leaving(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _write_json(event: OutgoingEvent, error: McpError | None, *, is_legacy: bool) -> Response:
    status = 200 if error is None or (is_legacy and error.code < 0) else error.status
    headers = None if error is None else error.headers
    return Response(event.text, status_code=status, media_type=MEDIA_TYPE, headers=headers)


class LeftError(Exception):
    """The client has disconnected, or its request was cancelled: nothing is sent any more."""


class MessageStream(Response):
    """The messages of a request as events, with comments between them while nothing happens."""

    def __init__(
        self, outgoing: Outgoing, task: asyncio.Task[None], leaving: asyncio.Task[None], *, is_cancelled_by_leaving: bool
    ) -> None:
        super().__init__(media_type=STREAM_MEDIA_TYPE, headers=HEADERS)
        del self.headers["content-length"]
        self._outgoing, self._task, self._leaving = outgoing, task, leaving
        self._is_cancelled_by_leaving = is_cancelled_by_leaving
        self._getting: asyncio.Task[OutgoingEvent] | None = None
        self.first = OutgoingEvent(None)

    async def get_next(self, within_s: float | None) -> OutgoingEvent:
        """Return the next event, one without a message after `within_s` seconds. Raise `LeftError`."""
        if self._getting is None:
            self._getting = asyncio.create_task(self._outgoing.get())
        await asyncio.wait({self._getting, self._leaving, self._task}, timeout=within_s, return_when=asyncio.FIRST_COMPLETED)
        if self._leaving.done():
            raise LeftError
        if not self._getting.done() and self._task.done():
            await asyncio.sleep(0)  # what the task sent last is there after one turn of the loop
            if not self._getting.done():
                raise LeftError  # it was cancelled
        if not self._getting.done():
            return OutgoingEvent(None)
        getting, self._getting = self._getting, None
        return getting.result()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - `run` reads it
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            event = self.first
            while not event.ends_stream:
                await send({"type": "http.response.body", "body": event.write().encode(), "more_body": not event.is_last})
                if event.is_last:
                    return
                event = await self.get_next(frame.KEEP_ALIVE_S)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        except LeftError:
            with suppress(OSError):
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            await self.close()

    async def close(self) -> None:
        """End what still runs: the request's work too, unless it goes on without its client."""
        ending: list[asyncio.Task[Any]] = [self._leaving, *([] if self._getting is None else [self._getting])]
        if self._is_cancelled_by_leaving:
            ending.append(self._task)
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)
        self._outgoing.close()
