"""Halting: work that is broken off when a kill switch goes on while it is under way."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeVar

from ferryman.ports import Halted

Answer = TypeVar("Answer")

LOOKS = timedelta(seconds=1)
"""How often the switches are looked at; with it a call in flight ends within 2 seconds of one."""


async def unless_halted(
    work: Awaitable[Answer], look: Callable[[], Awaitable[str | None]], *, every: timedelta = LOOKS
) -> Answer:
    """The answer of `work`, or `Halted`, when `look` told why it is to be broken off.

    What ends before the first look costs none. A look that fails, or hangs, holds nothing up: the next one tells.
    """
    doing = asyncio.ensure_future(work)
    looking: asyncio.Future[str | None] | None = None
    try:
        while not (await asyncio.wait({doing}, timeout=every.total_seconds()))[0]:
            if looking is None:
                looking = asyncio.ensure_future(look())
                await asyncio.wait({doing, looking}, timeout=every.total_seconds(), return_when=asyncio.FIRST_COMPLETED)
            if doing.done() or not looking.done():
                continue
            seen, looking = looking, None
            if seen.exception() is None and (reason := seen.result()) is not None:
                raise Halted(reason)
        return doing.result()
    finally:
        under_way = [each for each in (doing, looking) if each is not None]
        for each in under_way:
            each.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
