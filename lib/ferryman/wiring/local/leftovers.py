"""Leftovers: what a stack that was killed left behind, found by its note and ended."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx

from ferryman.wiring.local.admin import Admin, Refused

NOTE = "stack.json"
READY = "ready.json"
"""What the local cloud writes itself; it is there before the note is."""

ENDS_S = 25.0


def note(data: Path) -> dict[str, Any] | None:
    """What the stack on `data` noted about itself, or None."""
    return _read(data / NOTE, {"url", "admin", "pid"})


async def recover(data: Path) -> str | None:
    """End what a killed stack left on the (resolved) folder, which the caller holds; a sentence about it, or None."""
    known = note(data) or _read(data / READY, {"admin", "pid"})
    if known is None:
        return None
    orphaned = await _answers(known["admin"], data)
    if orphaned:
        async with Admin(known["admin"]) as admin:
            await admin.shutdown()
        async with asyncio.timeout(ENDS_S):
            while await _answers(known["admin"], data) or (data / READY).exists():  # noqa: ASYNC110 - another process's end
                await asyncio.sleep(0.1)
    for file in (NOTE, READY):
        (data / file).unlink(missing_ok=True)
    left = "its local cloud was still running and has been ended" if orphaned else "nothing of it is running any more"
    return f"the last stack on {data} was killed (process {known['pid']}); {left}, and its data is kept"


def _read(file: Path, members: set[str]) -> dict[str, Any] | None:
    try:
        known = json.loads(file.read_text())
    except (OSError, ValueError):
        return None
    return known if isinstance(known, dict) and members <= known.keys() else None


async def _answers(url: str, data: Path) -> bool:
    try:
        async with Admin(url) as admin:
            return str((await admin.status())["data"]) == str(data)
    except (httpx.HTTPError, Refused, KeyError, ValueError):
        return False
