"""The bridge of `ferryman mcp serve` on standard input and output: lines in, lines out."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator

from ferryman.cli.service import Service
from ferryman.client.mcp_bridge import LINE_BYTES_MAX, McpBridge

CHUNK_BYTES = 65_536


async def serve_stdio(known: Service, agent: str | None, workspace: str | None) -> None:
    """Pass messages between /mcp of the service and standard input and output, until either of these ends."""
    out = sys.stdout.buffer

    def write(line: str) -> None:
        try:
            out.write(line.encode() + b"\n")
            out.flush()
        except BrokenPipeError:
            os.kill(os.getpid(), signal.SIGTERM)  # nobody reads any longer

    await McpBridge(known.url, known.key, write, agent=agent, workspace=workspace).run(read_lines(sys.stdin.fileno()))


async def read_lines(descriptor: int) -> AsyncIterator[bytes]:
    """Yield the lines of a file, of which a thread waits for the next: it may be a pipe, a terminal or a plain file.

    Of a line that is too long, its beginning is yielded, which is no message.
    """
    loop, parts = asyncio.get_running_loop(), asyncio.Queue[bytes]()

    def read() -> None:
        part = b"-"
        while part:
            try:
                part = os.read(descriptor, CHUNK_BYTES)
            except OSError:
                part = b""
            loop.call_soon_threadsafe(parts.put_nowait, part)

    threading.Thread(target=read, name="stdin", daemon=True).start()
    line, is_over = bytearray(), False
    while part := await parts.get():
        *ends, rest = part.split(b"\n")
        for end in ends:
            yield bytes(line if is_over else line + end)
            line, is_over = bytearray(), False
        if not is_over:
            line += rest
            is_over = len(line) > LINE_BYTES_MAX
    if line:
        yield bytes(line)
