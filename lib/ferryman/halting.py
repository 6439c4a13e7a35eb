"""Halting: work that is broken off when a kill switch goes on while it is under way."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from datetime import timedelta
from typing import TypeVar

from ferryman.ports import Halted, Halts, Unavailable

Answer = TypeVar("Answer")

LOOKS = timedelta(seconds=1)
"""How often the switches are looked at; with it a call in flight ends within 2 seconds of one."""


async def unless_halted(work: Awaitable[Answer], halts: Halts, owner: str, *, every: timedelta = LOOKS) -> Answer:
    """The answer of `work`, or `Halted`, when it was broken off. What ends before the first look costs none."""
    doing = asyncio.ensure_future(work)
    try:
        while not (await asyncio.wait({doing}, timeout=every.total_seconds()))[0]:
            try:
                reason = await halts.standing(owner)
            except Unavailable:
                continue  # the next look tells
            if reason is not None and not doing.done():
                raise Halted(reason)
        return doing.result()
    finally:
        doing.cancel()
        await asyncio.gather(doing, return_exceptions=True)
