"""A provider of the Messages API that notes when it writes each delta: words of one letter and a number, at a steady pace."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from contextlib import suppress
from typing import Any

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"


class TimedProvider:
    """Answers every request with `words` words, the first after `first_s` seconds, the others `pause_s` apart.

    `written` are the times at which each delta of the last reply was handed to the system, in seconds of `time.perf_counter`.
    """

    def __init__(self) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.socket.getsockname()[1]
        self.words, self.first_s, self.pause_s = 3, 0.3, 0.02
        self.written: list[float] = []

    async def serve(self) -> asyncio.Server:
        """Serve on the running loop."""
        return await asyncio.start_server(self._answer, sock=self.socket)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, OSError):
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = next((int(line[15:]) for line in head.split(b"\r\n") if line.startswith(b"content-length:")), 0)
            await reader.readexactly(length)
            writer.write(
                HEAD + _encode("message_start", message={"id": "m", "usage": {"input_tokens": 100, "output_tokens": 1}})
            )
            writer.write(_encode("content_block_start", index=0, content_block={"type": "text", "text": ""}))
            self.written = []
            for number in range(self.words):
                await asyncio.sleep(self.pause_s if number else self.first_s)
                writer.write(_encode("content_block_delta", index=0, delta={"type": "text_delta", "text": f"w{number:05d} "}))
                self.written.append(time.perf_counter())
            writer.write(_encode("content_block_stop", index=0))
            writer.write(_encode("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": self.words}))
            writer.write(_encode("message_stop"))
            await writer.drain()
        writer.close()


def _encode(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()
