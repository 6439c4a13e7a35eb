"""The stream of one delivery: what the model writes, in lines of JSON (NDJSON), for the API that relays it.

A line is a change of the turn under way (`write_change`), or `{"committed": EVENT}` once everything up to that event is stored.
An empty line says that there is nothing new. The end of the stream is the end of the delivery, however that went: the record
tells the rest. A reader that is slow is sent fewer and longer changes, and delays nothing.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from ferryman.domain.conversations.changes import write_change
from ferryman.domain.conversations.live import LiveTurn

MEDIA_TYPE = "application/x-ndjson"

QUIET_S = 10.0
"""After how many seconds without a change an empty line is sent: who reads then knows that the delivery goes on."""

LAST_S = 5.0
"""How many seconds the last lines may take to be sent, once the delivery has ended."""

Deliver = Callable[["StreamAudience"], Awaitable[object]]
Write = Callable[[bytes], Awaitable[None]]


class StreamAudience:
    """`ports.Audience`: the newest of what was shown, until it is sent."""

    def __init__(self) -> None:
        self.has_left = False
        self._has_ended = False
        self._turn: LiveTurn | None = None
        self._committed = 0
        self._has_changed = asyncio.Event()

    def show(self, turn: LiveTurn) -> None:
        self._turn = turn
        self._has_changed.set()

    def note_commit(self, event: int) -> None:
        self._committed = event
        self._has_changed.set()

    def end(self) -> None:
        """Tell that nothing follows."""
        self._has_ended = True
        self._has_changed.set()

    async def write(self, write: Write) -> None:
        """Write the changes since the last time, each time there are any, until the end."""
        turn, committed, is_over = None, 0, False
        while not is_over:
            with suppress(TimeoutError):
                async with asyncio.timeout(QUIET_S):
                    await self._has_changed.wait()
            self._has_changed.clear()
            is_over = self._has_ended
            lines: list[dict[str, Any]] = []
            if self._turn is not None and self._turn != turn:
                lines.append(write_change(turn, self._turn))
                turn = self._turn
            if self._committed != committed:
                lines.append({"committed": self._committed})
                committed = self._committed
            if lines or not is_over:
                await write(b"".join(json.dumps(line).encode() + b"\n" for line in lines) or b"\n")


class DeliveryStream(Response):
    """The response of a delivery that `deliver` makes for its audience; it is finished where its reader leaves, too."""

    media_type = MEDIA_TYPE

    def __init__(self, deliver: Deliver) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._deliver = deliver

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - as ASGI has it
        async def write(part: bytes) -> None:
            await send({"type": "http.response.body", "body": part, "more_body": True})

        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        audience = StreamAudience()
        delivering = asyncio.ensure_future(self._deliver(audience))
        writing, leaving = asyncio.ensure_future(audience.write(write)), asyncio.ensure_future(_wait_for_end(receive))
        try:
            await asyncio.wait([delivering, leaving], return_when=asyncio.FIRST_COMPLETED)
            audience.has_left = leaving.done()
            await delivering
            audience.end()
            await asyncio.wait([writing, leaving], timeout=LAST_S, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (delivering, writing, leaving):
                task.cancel()
            await asyncio.gather(delivering, writing, leaving, return_exceptions=True)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _wait_for_end(receive: Receive) -> None:
    """Wait until the client has closed its connection."""
    while (await receive())["type"] != "http.disconnect":
        pass
