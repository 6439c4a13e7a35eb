"""The event stream of one request: its messages as they come, with comments between them while nothing happens."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from ferryman.serving.mcp.outgoing import Outgoing, OutgoingEvent
from ferryman.serving.streams import frame

HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
STREAM_MEDIA_TYPE = frame.MEDIA_TYPE


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
