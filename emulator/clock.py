"""The clock: the one source of time in the local cloud, which tests may stop and turn."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta


class EmulatorClock:
    """The real time; or, from `at`, a time that only moves when it is advanced."""

    def __init__(self, at: datetime | None = None) -> None:
        self._still = at
        self._ahead = timedelta(0)
        self._sleepers: set[Callable[[], None]] = set()

    def now(self) -> datetime:
        """Return the time in UTC."""
        return (self._still or datetime.now(UTC)) + self._ahead

    def advance(self, by: timedelta) -> None:
        """Advance the clock and wake the tasks that wait for a moment that has now come.

        Raise ValueError for a negative `by`: time does not run backwards.
        """
        if by < timedelta(0):
            raise ValueError("a clock only turns forward")
        self._ahead += by
        for reckon in list(self._sleepers):
            reckon()

    @asynccontextmanager
    async def deadline(self, moment: datetime) -> AsyncIterator[None]:
        """Cancel what runs inside once `moment` has come, and raise TimeoutError."""
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(None) as timeout:

            def reckon() -> None:
                remaining = (moment - self.now()).total_seconds()
                if remaining <= 0 or self._still is None:
                    timeout.reschedule(loop.time() + max(0.0, remaining))

            reckon()
            self._sleepers.add(reckon)
            try:
                yield
            finally:
                self._sleepers.discard(reckon)

    async def until(self, moment: datetime | None, wake: asyncio.Event) -> None:
        """Wait for `moment`, or for `wake` to be set; with no moment, for `wake` alone."""
        if moment is None:
            await wake.wait()
            return
        with suppress(TimeoutError):
            async with self.deadline(moment):
                await wake.wait()
