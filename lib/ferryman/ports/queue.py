"""The port of the queue of executions."""

from __future__ import annotations

from datetime import timedelta
from typing import Protocol

NOW = timedelta(0)


class Queue(Protocol):
    """The executions queue. Enqueuing the same execution and slice twice enqueues once; a `nudge` is one more delivery.

    So is each of the `waits` of a delivery that found no free slot; it is delivered with their number.
    """

    async def enqueue(
        self,
        execution: str,
        *,
        slice: int,
        after: timedelta = NOW,
        nudge: str = "",
        waits: int = 0,
    ) -> None: ...
