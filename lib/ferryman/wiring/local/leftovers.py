"""Leftovers: what a stack that was killed left behind, found by its note and ended."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import httpx

from ferryman.wiring.local.admin import Admin, Refused
from ferryman.wiring.local.stack import NOTE

ENDS_S = 25.0


def note(data: Path) -> dict[str, Any] | None:
    """What the stack on `data` noted about itself, or None."""
    try:
        known = json.loads((data / NOTE).read_text())
    except (OSError, ValueError):
        return None
    return known if isinstance(known, dict) and {"url", "admin", "pid"} <= known.keys() else None


def alive(pid: int) -> bool:
    """Whether there is a process of this number."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


async def answers(url: str, data: Path) -> bool:
    """Whether a local cloud on exactly this (resolved) folder answers at this admin URL."""
    try:
        async with Admin(url) as admin:
            return str((await admin.status())["data"]) == str(data)
    except (httpx.HTTPError, Refused, KeyError, ValueError):
        return False


async def recover(data: Path) -> str | None:
    """End what a killed stack left on `data`; a sentence about it, or None where there was nothing to do."""
    known = note(data)
    if known is None or (alive(known["pid"]) and await answers(known["admin"], data)):
        return None
    orphaned = await answers(known["admin"], data)
    if orphaned:
        async with Admin(known["admin"]) as admin:
            await admin.shutdown()
        async with asyncio.timeout(ENDS_S):
            while await answers(known["admin"], data) or (data / "ready.json").exists():  # noqa: ASYNC110 - another process's end
                await asyncio.sleep(0.1)
    (data / NOTE).unlink(missing_ok=True)
    left = "its local cloud was still running and has been ended" if orphaned else "nothing of it is running any more"
    return f"the last stack on {data} was killed (process {known['pid']}); {left}, and its data is kept"
