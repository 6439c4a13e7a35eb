"""The stream of a delivery: lines for what the model writes, while it does; and its end, also where its reader leaves."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from ferryman.domain.conversations.changes import apply_change
from ferryman.domain.conversations.live import LiveBlock, LiveTurn
from ferryman.serving.delivery_stream import Deliver, DeliveryStream, StreamAudience


class Reader:
    """Reads a stream as a server sends it; `leaves` is set to close the connection."""

    def __init__(self) -> None:
        self.leaves = asyncio.Event()
        self.parts: asyncio.Queue[bytes] = asyncio.Queue()
        self.status = 0
        self.has_ended = False

    async def read(self, deliver: Deliver) -> None:
        await DeliveryStream(deliver)({"type": "http"}, self._receive, self._send)

    async def line(self) -> Any:
        return json.loads(await self.parts.get())

    async def _receive(self) -> Any:
        await self.leaves.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        self.status = message.get("status", self.status)
        for line in message.get("body", b"").splitlines():
            self.parts.put_nowait(line)
        self.has_ended = message.get("more_body") is False


def write(text: str, event: int = 2) -> LiveTurn:
    return LiveTurn(event=event, blocks=(LiveBlock(text),))


async def test_what_is_shown_is_sent_while_the_delivery_goes_on() -> None:
    reader, proceed = Reader(), asyncio.Event()

    async def deliver(audience: StreamAudience) -> None:
        audience.show(write("In "))
        await proceed.wait()
        audience.show(write("In Harwich."))
        audience.note_commit(2)

    reading = asyncio.create_task(reader.read(deliver))
    turn = apply_change(None, await reader.line())
    assert (reader.status, turn) == (200, write("In "))
    proceed.set()
    assert apply_change(turn, await reader.line()) == write("In Harwich.")
    assert await reader.line() == {"committed": 2}
    await reading
    assert reader.has_ended


async def test_of_what_comes_at_once_the_newest_is_sent() -> None:
    reader = Reader()

    async def deliver(audience: StreamAudience) -> None:
        for text in ("In ", "In Harwich", "In Harwich."):
            audience.show(write(text))

    await reader.read(deliver)
    assert [apply_change(None, json.loads(reader.parts.get_nowait()))] == [write("In Harwich.")]
    assert reader.parts.empty()


async def test_where_the_reader_leaves_the_delivery_is_told_and_finishes_what_it_does() -> None:
    reader, delivered = Reader(), []

    async def deliver(audience: StreamAudience) -> None:
        reader.leaves.set()
        while not audience.has_left:  # noqa: ASYNC110 - it is the loop that asks
            await asyncio.sleep(0)
        delivered.append("handed over")

    await reader.read(deliver)
    assert delivered == ["handed over"]


async def test_a_reader_that_takes_nothing_delays_no_delivery() -> None:
    reader, delivered = Reader(), []

    async def send(message: Any) -> None:
        if message["type"] == "http.response.body" and message["more_body"]:
            await asyncio.Event().wait()

    async def deliver(audience: StreamAudience) -> None:
        for number in range(100):
            audience.show(write("word " * number))
            await asyncio.sleep(0)
        delivered.append("all of it")
        reader.leaves.set()

    await DeliveryStream(deliver)({"type": "http"}, reader._receive, send)
    assert delivered == ["all of it"]
