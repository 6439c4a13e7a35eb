"""The kill switch during work: work is cancelled when a switch goes on while it is under way."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeVar

from ferryman.ports.errors import HaltedError, RejectedError, UnavailableError

Answer = TypeVar("Answer")

POLL_INTERVAL = timedelta(seconds=1)
"""How often the switches are read; so a call under way ends within 2 seconds of one."""


async def run_unless_halted(
    work: Awaitable[Answer], look: Callable[[], Awaitable[str | None]], *, every: timedelta = POLL_INTERVAL
) -> Answer:
    """Return the answer of `work`. Raise `HaltedError` with the reason that `look` returns while it runs.

    The error's `lost` is false where the work, being cancelled, says by an error of its own that nothing was done.

    Work that ends within the first interval costs no read. A read that fails or hangs delays nothing: the next one decides.
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
            finished, looking = looking, None
            if finished.exception() is None and (reason := finished.result()) is not None:
                raise HaltedError(reason, lost=not await _is_undone(doing))
        return doing.result()
    finally:
        under_way = [future for future in (doing, looking) if future is not None]
        for future in under_way:
            future.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)


async def _is_undone(doing: asyncio.Future[Answer]) -> bool:
    """Cancel work, and return whether it ended with an error by which it had no effect."""
    doing.cancel()
    await asyncio.wait({doing})
    error = None if doing.cancelled() else doing.exception()
    return isinstance(error, UnavailableError | RejectedError) and not error.lost
