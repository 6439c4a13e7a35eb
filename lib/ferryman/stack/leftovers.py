"""Leftovers: what a stack that was killed left behind, found by its note and ended."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

from ferryman.stack.admin import Admin, AdminRefusedError
from ferryman.stack.private import is_private

NOTE = "stack.json"
READY = "ready.json"
"""What the local cloud writes itself; it is there before the note is."""

ENDS_S = 25.0


def read_note(data: Path) -> dict[str, Any] | None:
    """Return what the stack on `data` noted about itself, or None; what another user could have written is not believed."""
    return _read(data / NOTE, {"url", "admin", "pid", "env"})


async def recover(data: Path) -> str | None:
    """End what a killed stack left on the (resolved) folder, which the caller holds; a sentence about it, or None."""
    known = read_note(data) or _read(data / READY, {"admin", "pid", "env"})
    if known is None:
        return None
    orphaned = await _answers(known, data)
    if orphaned:
        async with Admin.from_note(known) as admin:
            await admin.shutdown()
        async with asyncio.timeout(ENDS_S):
            while await _answers(known, data) or (data / READY).exists():  # noqa: ASYNC110 - another process's end
                await asyncio.sleep(0.1)
    for file in (NOTE, READY):
        (data / file).unlink(missing_ok=True)
    outcome = "its local cloud was still running and has been ended" if orphaned else "nothing of it is running any more"
    return f"the last stack on {data} was killed (process {known['pid']}); {outcome}, and its data is kept"


def _read(file: Path, members: set[str]) -> dict[str, Any] | None:
    try:
        # a note says where a key and the token are, and who is sent them
        known = json.loads(file.read_text()) if is_private(file.parent) else None
    except (OSError, ValueError):
        return None
    return known if isinstance(known, dict) and members <= known.keys() else None


async def _answers(known: Mapping[str, Any], data: Path) -> bool:
    try:
        async with Admin.from_note(known) as admin:
            return str((await admin.read_status())["data"]) == str(data)
    except (httpx.HTTPError, AdminRefusedError, OSError, KeyError, ValueError):
        return False
