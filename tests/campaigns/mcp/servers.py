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
from dataclasses import dataclass
from pathlib import Path

from emulator.web import listen, port_of
from tests.campaigns.mcp.installing import PEER, PYTHON, ROOT

START_S = 30.0
POLL_S = 0.05


_PLAIN_PEER = """
import logging, sys, uvicorn
from mcp_everything_server.server import mcp
logging.disable(logging.ERROR)
app = mcp.streamable_http_app(json_response=True)
uvicorn.run(app, port=int(sys.argv[1]), log_level="error", access_log=False)
"""
"""The SDK's own server without logs, and with JSON instead of event streams that could be resumed: as fast as it goes."""


@dataclass(frozen=True)
class Instance:
    """A process that serves MCP."""

    url: str
    process: int


@asynccontextmanager
async def serve_ours(folder: Path | None = None, key: str = "", *, with_log: bool = True) -> AsyncIterator[Instance]:
    """Serve the application on our engine. Instances with one `folder` and `key` are one server, where they keep no log."""
    with tempfile.TemporaryDirectory() as own_folder:
        port = choose_port()
        options = ["--port", str(port), "--folder", str(folder or own_folder), "--key", key or secrets.token_hex(16)]
        command = [sys.executable, "-m", "tests.campaigns.mcp.application", *options]
        async with serve([*command, "--log"] if with_log else command, port) as process:
            yield Instance(f"http://127.0.0.1:{port}/mcp", process.pid)


@asynccontextmanager
async def serve_peer(*, is_plain: bool = False) -> AsyncIterator[Instance]:
    """Serve the SDK's own server: as it is, or where `is_plain` without what only the suite needs."""
    port = choose_port()
    command = [str(PYTHON), "-m", PEER.name, "--port", str(port), "--log-level", "ERROR"]
    if is_plain:
        command = [str(PYTHON), "-c", _PLAIN_PEER, str(port)]
    async with serve(command, port, {"PYTHONPATH": str(PEER.parent)}) as process:
        yield Instance(f"http://127.0.0.1:{port}/mcp", process.pid)


@asynccontextmanager
async def serve_everything(node: Path, script: Path) -> AsyncIterator[Instance]:
    """Serve the everything-server of the TypeScript SDK."""
    port = choose_port()
    async with serve([str(node), str(script), "streamableHttp"], port, {"PORT": str(port)}) as process:
        yield Instance(f"http://127.0.0.1:{port}/mcp", process.pid)


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
