"""The scheduler: starts what is due, and sleeps until there is more to do."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from datetime import datetime
from typing import Any

from emulator.clock import EmulatorClock

log = logging.getLogger(__name__)


class Scheduler:
    """Calls `step` at every moment it asks for, whenever something is done, and when woken.

    `step` starts (with `spawn`) whatever is due and returns when to look again, or None to wait to be woken.
    """

    def __init__(self, clock: EmulatorClock, step: Callable[[], datetime | None]) -> None:
        self._clock = clock
        self._step = step
        self._wake = asyncio.Event()
        self._jobs: set[asyncio.Task[None]] = set()
        self._loop: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin; there must be a running event loop."""
        self._wake.set()
        self._loop = asyncio.create_task(self._run())

    def wake(self) -> None:
        """Look again now: something was added, ended, or changed."""
        self._wake.set()

    def spawn(self, job: Coroutine[Any, Any, None]) -> None:
        """Run `job` beside the others; `step` is called again when it ends."""
        task = asyncio.create_task(job)
        self._jobs.add(task)
        task.add_done_callback(self._finish)

    @property
    def running(self) -> int:
        """How many jobs are under way."""
        return len(self._jobs)

    async def idle(self) -> None:
        """Wait until nothing is under way and nothing is due; at once where it does not run."""
        while self._loop and not self._loop.done() and (self._jobs or self._wake.is_set()):
            await (asyncio.wait(self._jobs) if self._jobs else asyncio.sleep(0))

    def stop(self) -> list[asyncio.Task[None]]:
        """Stop, and cancel what is under way: the tasks that are about to end."""
        tasks = [*self._jobs, *([self._loop] if self._loop else [])]
        for task in tasks:
            task.cancel()
        return tasks

    async def close(self) -> None:
        """Stop, and wait for the end of what was under way."""
        await asyncio.gather(*self.stop(), return_exceptions=True)

    def _finish(self, task: asyncio.Task[None]) -> None:
        self._jobs.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.error("a scheduled job failed", exc_info=error)
        self.wake()

    async def _run(self) -> None:
        while True:
            self._wake.clear()
            try:
                moment = self._step()
            except Exception:
                log.exception("the scheduler stopped")
                raise
            await self._clock.until(moment, self._wake)
