"""A client of the recorded streams whose connection is lost comes back, and has every event once."""

from __future__ import annotations

import httpx

from tests.campaigns.streams.cuts import CutResults
from tests.campaigns.streams.cutting import stream
from tests.campaigns.streams.recorded import Recorder, read_all
from tests.campaigns.streams.test_streams import RUN

FRAMES = [frame for batch in stream("message", RUN) for frame in batch]
HALF = len(FRAMES) // 2


class LossyServer(httpx.AsyncBaseTransport):
    """Sends all frames behind the one that is named; the first connection is lost before any, the second amid them."""

    def __init__(self) -> None:
        self.connections = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.connections += 1
        if self.connections == 1:
            raise httpx.ReadError("the connection was idle for too long")
        last = request.headers.get("Last-Event-ID")
        begin = [frame.id for frame in FRAMES].index(last) + 1 if last else 0
        return httpx.Response(200, stream=LossyStream(begin, end=HALF if self.connections == 2 else None))


class LossyStream(httpx.AsyncByteStream):
    """The frames from `begin` on, in one chunk each; where there is an `end`, the connection is lost there."""

    def __init__(self, begin: int, end: int | None) -> None:
        self._frames, self._is_lost = FRAMES[begin:end], end is not None

    async def __aiter__(self):
        for frame in self._frames:
            yield frame.write("").encode()
        if self._is_lost:
            raise httpx.ReadError("reset")


async def test_a_connection_that_is_lost_costs_no_event() -> None:
    results = CutResults()
    async with httpx.AsyncClient(transport=LossyServer(), base_url="http://api.test") as http:
        frames = await Recorder(http, None, "t", results).resume("e", "message", ())  # type: ignore[arg-type] # nothing is asked
    assert frames == FRAMES
    assert read_all("message", frames) == read_all("message", FRAMES)
    assert results.counts["lost by themselves"] == 2
