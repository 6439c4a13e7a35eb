"""An event loop whose clock moves at once to the next moment that anything waits for: five seconds take none."""

from __future__ import annotations

import asyncio
import selectors
from typing import Any


class _Selector(selectors.DefaultSelector):
    def __init__(self) -> None:
        super().__init__()
        self.passed = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        ready = super().select(0 if timeout else timeout)
        if not ready and timeout:
            self.passed += timeout
        return ready


class InstantLoop(asyncio.SelectorEventLoop):
    """For coroutines that wait for time alone, without threads."""

    def __init__(self) -> None:
        self._clock = _Selector()
        super().__init__(self._clock)

    def time(self) -> float:
        """Return the seconds that were waited."""
        return self._clock.passed


def run(coroutine: Any) -> tuple[Any, float]:
    """Return what the coroutine returns, and the seconds that it took by the loop's clock."""
    with asyncio.Runner(loop_factory=InstantLoop) as runner:
        return runner.run(coroutine), runner.get_loop().time()
