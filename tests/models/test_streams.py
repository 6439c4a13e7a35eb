"""Streams that break: an answer that is not whole is no answer, and nobody knows what it cost."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from ferryman.domain.executions.message import Prompt
from ferryman.models.anthropic import AnthropicModel
from ferryman.ports.errors import UnavailableError
from ferryman.settings import Settings

PROMPT = Prompt(model="scripted", system="s", messages=({"role": "user", "content": "x"},), max_tokens=100)
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def event(kind: str, **data: Any) -> bytes:
    frame = f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()
    return f"{len(frame):x}\r\n".encode() + frame + b"\r\n"


MESSAGE = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "model": "scripted",
    "content": [],
    "stop_reason": None,
    "stop_sequence": None,
    "usage": {"input_tokens": 10, "output_tokens": 1},
}
TOOL = {"type": "tool_use", "id": "toolu_1", "name": "http_post", "input": {}}
BEGUN = event("message_start", message=MESSAGE) + event("content_block_start", index=0, content_block=TOOL)
CUT = event("content_block_delta", index=0, delta={"type": "input_json_delta", "partial_json": '{"body":{"delete":true,"dry'})
BUSY = event("error", error={"type": "overloaded_error", "message": "Overloaded"})
END = b"0\r\n\r\n"


@asynccontextmanager
async def answering(*parts: bytes, stays: bool = False) -> AsyncIterator[AnthropicModel]:
    """Yield a model whose provider answers with these bytes and closes the connection, or `stays` until the client does."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.writelines((HEAD, *parts))
        await writer.drain()
        if stays:
            await reader.read()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    model = AnthropicModel(Settings(scripted_model_url=f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"))
    try:
        yield model
    finally:
        await model.close()
        server.close()
        await server.wait_closed()


@pytest.mark.parametrize(
    "parts", [(BEGUN,), (BEGUN, CUT), (BEGUN, CUT, BUSY, END), (BEGUN, CUT, END)], ids=["dropped", "cut", "busy", "ended early"]
)
async def test_an_answer_that_is_not_whole_is_lost(parts: tuple[bytes, ...]) -> None:
    async with answering(*parts) as model:
        with pytest.raises(UnavailableError) as unavailable:
            await model.reply(PROMPT)
    assert unavailable.value.lost


@pytest.mark.parametrize(
    ("header", "heard"), [("inf", 86_400.0), ("1e300", 86_400.0), ("nan", None), ("-3", None), ("soon", None)]
)
async def test_a_provider_names_a_time_within_a_day_or_none(header: str, heard: float | None) -> None:
    head = f"HTTP/1.1 429 Slow\r\nretry-after: {header}\r\ncontent-length: 0\r\n\r\n".encode()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(head)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    model = AnthropicModel(Settings(scripted_model_url=f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"))
    with pytest.raises(UnavailableError) as unavailable:
        await model._reply(PROMPT)
    await model.close()
    server.close()
    assert (unavailable.value.after_s, unavailable.value.lost) == (heard, False)
