"""The port of the queue of executions."""

from __future__ import annotations

from datetime import timedelta
from typing import Protocol

NOW = timedelta(0)


class Queue(Protocol):
    """The executions queue. Enqueuing the same execution and slice twice enqueues once.

    A `wake_up` is the name of one further delivery. `waits` counts how often the delivery found no free slot before: each count
    is one further delivery too, which has the count in it.
    """

    async def enqueue(
        self, execution: str, *, slice: int, after: timedelta = NOW, wake_up: str = "", waits: int = 0
    ) -> None: ...
