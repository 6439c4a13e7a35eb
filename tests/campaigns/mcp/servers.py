"""The two servers that are asked, each a process of its own on 127.0.0.1: ours, and the SDK's own."""

from __future__ import annotations

import asyncio
import os
import secrets
import sys
import tempfile
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from emulator.web import listen, port_of
from tests.campaigns.mcp.installing import PEER, PYTHON, ROOT

START_S = 30.0
POLL_S = 0.05


@asynccontextmanager
async def serve_ours(folder: Path | None = None, key: str = "") -> AsyncIterator[str]:
    """Serve the application on our engine, and yield its URL. Instances with one `folder` and `key` are one server."""
    with tempfile.TemporaryDirectory() as own_folder:
        port = choose_port()
        options = ["--port", str(port), "--folder", str(folder or own_folder), "--key", key or secrets.token_hex(16)]
        async with serve([sys.executable, "-m", "tests.campaigns.mcp.application", *options], port):
            yield f"http://127.0.0.1:{port}/mcp"


@asynccontextmanager
async def serve_peer() -> AsyncIterator[str]:
    """Serve the SDK's own server, and yield its URL."""
    port = choose_port()
    command = [str(PYTHON), "-m", PEER.name, "--port", str(port), "--log-level", "ERROR"]
    async with serve(command, port, {"PYTHONPATH": str(PEER.parent)}):
        yield f"http://127.0.0.1:{port}/mcp"


@asynccontextmanager
async def serve(
    command: list[str], port: int, environment: dict[str, str] | None = None
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run `command` until the block ends, and yield its process once it listens. Raise RuntimeError where it does not."""
    process = await asyncio.create_subprocess_exec(
        *command, cwd=ROOT, env={**os.environ, **(environment or {})}, stdout=DEVNULL, stderr=DEVNULL
    )
    try:
        async with asyncio.timeout(START_S):
            while not await _is_listening(port):
                if process.returncode is not None:
                    raise RuntimeError(f"{command[2]} ended with {process.returncode}")
                await asyncio.sleep(POLL_S)
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        await process.wait()


def choose_port() -> int:
    """Return a port that was free a moment ago."""
    with listen() as socket:
        return port_of(socket)


async def _is_listening(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    await writer.wait_closed()
    return True
