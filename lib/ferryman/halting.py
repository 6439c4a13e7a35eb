"""The kill switch during work: work is cancelled when a switch goes on while it is under way, or where a person stops it.

A process reads the switches for all that it has under way together: as often for forty executions as for one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from ferryman.ports.errors import CancelRequestedError, HaltedError, RejectedError, UnavailableError
from ferryman.ports.halts import Halts, Stoppable
from ferryman.ports.log import Log

Answer = TypeVar("Answer")

POLL_INTERVAL = timedelta(seconds=1)
"""How often the switches are read; so a call under way ends within 2 seconds of one. Where a person may stop one, it is
twice as often: it ends within a second."""

READ_S = 5.0
"""How long one reading of the switches may take before the next one begins."""


@dataclass(frozen=True, slots=True, eq=False)
class _UnderWay:
    """One work: whose, of which execution where its cancel stops it, when it began (seconds of the event loop's clock), and
    why it is stopped, once that is known."""

    execution: Stoppable
    cancellable: str
    since: float
    halted: asyncio.Future[HaltedError]


class HaltWatch:
    """The kill switches of one process, read `every` so often while any of its works has been under way for as long.

    While they cannot be read, work goes on, and no switch stops it: the `log` says so once, `halts.unread` with the error's
    type, and `halts.read` when they can be read again.
    """

    def __init__(self, halts: Halts, log: Log, *, every: timedelta = POLL_INTERVAL) -> None:
        self._halts = halts
        self._log = log
        self._is_unread = False
        self._every_s = every.total_seconds()
        self._under_way: dict[_UnderWay, None] = {}  # the oldest first
        self._polling: asyncio.Task[None] | None = None

    async def run(self, work: Awaitable[Answer], owner: str, *, created: datetime, cancellable: str = "") -> Answer:
        """Return the answer of `work`, of an execution of `owner` that was `created` then.

        Raise `HaltedError` with the reason by which a switch stops it meanwhile, or `CancelRequestedError` where the execution
        `cancellable` is to be cancelled. The error's `lost` is false where the work,
        being cancelled, says by an error of its own that nothing was done. Work that ends within the first interval costs no
        read. A read that fails or hangs delays no answer: the next one decides.
        """
        doing, loop = asyncio.ensure_future(work), asyncio.get_running_loop()
        mine = _UnderWay((owner, created), cancellable, loop.time(), loop.create_future())
        self._under_way[mine] = None
        if self._polling is None or self._polling.done():
            self._polling = loop.create_task(self._poll())
        try:
            either: set[asyncio.Future[Any]] = {doing, mine.halted}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if not doing.done():
                halted = mine.halted.result()
                halted.lost = not await _is_undone(doing)
                raise halted
            return doing.result()
        finally:
            del self._under_way[mine]
            ending: list[asyncio.Future[Any]] = [doing]
            if not self._under_way and self._polling is not None:
                ending.append(self._polling)
                self._polling = None
            for future in ending:
                future.cancel()
            await asyncio.gather(*ending, return_exceptions=True)

    async def _poll(self) -> None:
        """Read the switches while anything is under way: at first when the oldest work has lasted an interval."""
        latest, clock = 0.0, asyncio.get_running_loop().time
        while self._under_way:
            oldest = next(iter(self._under_way))
            every_s = self._every_s / (2 if any(work.cancellable for work in self._under_way) else 1)
            wait_s = max(latest, oldest.since) + every_s - clock()
            if wait_s > 0:
                await asyncio.sleep(wait_s)
                continue  # the oldest may have ended meanwhile
            latest = clock()
            reasons, cancelled = await self._read()
            for work in self._under_way:
                if work.halted.done():
                    continue
                if work.execution in reasons:
                    work.halted.set_result(HaltedError(reasons[work.execution]))
                elif work.cancellable in cancelled:
                    work.halted.set_result(CancelRequestedError("cancelled"))
            await asyncio.sleep(0)

    async def _read(self) -> tuple[Mapping[Stoppable, str], Collection[str]]:
        """Return the reasons by which works are stopped, and the executions to be cancelled; none where they cannot be read."""
        cancellable = {work.cancellable for work in self._under_way if work.cancellable}
        try:
            async with asyncio.timeout(READ_S):
                reasons = await self._halts.find_halt_reasons({work.execution for work in self._under_way})
                cancelled = await self._halts.list_cancelled(cancellable) if cancellable else ()
        except Exception as error:  # noqa: BLE001 - whatever it is: the next reading decides
            if not self._is_unread:
                self._is_unread = True
                self._log.line("halts.unread", severity="ERROR", error=type(error).__name__)
            return {}, ()
        if self._is_unread:
            self._is_unread = False
            self._log.line("halts.read")
        return reasons, cancelled


async def _is_undone(doing: asyncio.Future[Answer]) -> bool:
    """Cancel work, and return whether it ended with an error by which it had no effect."""
    doing.cancel()
    await asyncio.wait({doing})
    error = None if doing.cancelled() else doing.exception()
    return isinstance(error, UnavailableError | RejectedError) and not error.lost
