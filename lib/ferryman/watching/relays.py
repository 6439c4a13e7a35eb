"""Relays: deliveries of answers that this process asks the orchestrator for, and what the model writes meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing, suppress
from datetime import timedelta

from ferryman.domain.executions.execution import Execution, Status
from ferryman.ports.errors import UnavailableError
from ferryman.ports.live import DeliveryRelay
from ferryman.ports.log import Log
from ferryman.ports.queue import Queue
from ferryman.watching.watched_execution import WatchedExecution

RELAYS_MAX = 64
"""How many deliveries one process relays at once; the queue has the others delivered."""

RELAYED_FIRST = timedelta(seconds=5)
"""How long the queue leaves an answer alone that is relayed: as long as an instance may take to start."""


class Relays:
    """The relays of one process. Without a `source` there are none, and the `queue` has every answer delivered.

    `forget` is called with each watched execution whose relay has ended, and its id.
    """

    def __init__(
        self, source: DeliveryRelay | None, queue: Queue, log: Log, *, forget: Callable[[WatchedExecution, str], None]
    ) -> None:
        self._source, self._queue, self._log = source, queue, log
        self._forget = forget
        self._under_way = 0

    def begin(self, watched: WatchedExecution, execution: Execution) -> None:
        """Have an answer delivered that is queued. It is relayed to its end, even where nobody watches it any longer."""
        if self._source is None or watched.relay is not None or execution.status is not Status.QUEUED or not execution.answer:
            return
        if self._under_way < RELAYS_MAX:
            self._under_way += 1
            watched.relay = asyncio.ensure_future(self._relay(self._source, watched, execution))
            watched.relay.add_done_callback(self._count_end)

    async def _relay(self, source: DeliveryRelay, watched: WatchedExecution, execution: Execution) -> None:
        try:
            async with aclosing(source.deliver(execution)) as turns:  # type: ignore[type-var] # a generator, as all of them are
                async for turn in turns:
                    if turn is not None:
                        watched.live = turn
                    if watched.is_live_next():
                        watched.publish()
                    else:
                        watched.is_old.set()
        except UnavailableError as error:
            self._log.line("relay.broken", execution=execution.id, reason=str(error), severity="WARNING")
            with suppress(UnavailableError):  # its own task comes anyway
                await self._queue.enqueue(execution.id, slice=execution.slice, wake_up="relay")
        finally:
            watched.relay, watched.live = None, None
            watched.is_old.set()
            self._forget(watched, execution.id)

    def _count_end(self, _: asyncio.Task[None]) -> None:
        self._under_way -= 1
