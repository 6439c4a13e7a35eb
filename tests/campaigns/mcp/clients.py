"""Clients of others at a server: the `mcp` SDK's, and the Inspector's command line. Each is a process of its own."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

from tests.campaigns.mcp.installing import FOLDER, PYTHON, SOURCES

CLIENT_S = 120.0


async def visit_by_sdk(url: str, mode: str, *, token: str = "", calls: list[Any] | None = None) -> dict[str, Any]:
    """Return what the SDK's client sees at `url` (`judge/sdk_client.py`). Raise RuntimeError where it fails."""
    command = [str(PYTHON), str(SOURCES / "sdk_client.py"), url, mode, *([token] if token else [])]
    seen: dict[str, Any] = json.loads(await run_client(command, MCP_CALLS=json.dumps(calls)))
    return seen


async def ask_by_inspector(inspector: tuple[Path, Path], url: str, *options: str) -> Any:
    """Return what the Inspector prints as JSON for `options`, such as `--method tools/list`. Raise RuntimeError."""
    command = [*map(str, inspector), url, "--transport", "http", *options]
    return json.loads(await run_client(command, MCP_CATALOG_PATH=str(FOLDER / "inspector" / "catalog.json")))


async def run_client(command: list[str], **environment: str) -> str:
    """Return what a process prints. Raise RuntimeError with its errors where it does not end well."""
    process = await asyncio.create_subprocess_exec(
        *command, env={**os.environ, **environment}, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    try:
        async with asyncio.timeout(CLIENT_S):
            printed, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise RuntimeError(f"{command[1]} ended with {process.returncode}: {errors.decode()[-2_000:]}")
    return printed.decode()
