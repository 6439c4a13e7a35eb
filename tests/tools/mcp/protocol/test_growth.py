"""A server's answer takes time and memory in proportion to its size, in whatever pieces it comes."""

from __future__ import annotations

import asyncio
import tracemalloc

import pytest

from ferryman.tools.mcp.protocol import AnswerTooLargeError, read_descriptor
from ferryman.tools.mcp.protocol.answer_reader import AnswerReader
from ferryman.tools.mcp.protocol.bounds import ANSWER_BYTES_MAX
from tests.linear import find_growth

from .peers import JSON_HEADERS, STREAM_HEADERS, WrittenResponse, WrittenServer, make_client, write_event

TOOL = read_descriptor({"name": "t", "inputSchema": {"type": "object"}})
NOTE = write_event({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "x" * 20}})


def read(text: bytes, headers: tuple[tuple[str, str], ...], piece: int) -> None:
    async def feed() -> None:
        reader = AnswerReader("o", 1)
        await reader.begin(200, headers)
        for start in range(0, len(text), piece):
            await reader.feed(text[start : start + piece])

    asyncio.run(feed())


@pytest.mark.parametrize("piece", [1, 4_096])
def test_a_stream_takes_linear_time(piece: int) -> None:
    growth = find_growth(lambda text: read(text, STREAM_HEADERS, piece), lambda size: NOTE * min(size // 64, 1_000))
    assert growth is None, str(growth)


@pytest.mark.parametrize("piece", [1, 4_096])
def test_a_body_takes_linear_time(piece: int) -> None:
    growth = find_growth(lambda text: read(text, JSON_HEADERS, piece), lambda size: b" " * size * 4)
    assert growth is None, str(growth)


async def test_an_answer_without_an_end_takes_a_few_times_its_bound_in_memory() -> None:
    part = b" " * 65_536
    server = WrittenServer(lambda request: WrittenResponse([part] * 1_000, JSON_HEADERS))
    tracemalloc.start()
    try:
        with pytest.raises(AnswerTooLargeError):
            await make_client(server).call_tool(TOOL, {})
        assert tracemalloc.get_traced_memory()[1] < 3 * ANSWER_BYTES_MAX
    finally:
        tracemalloc.stop()
