"""A feed: an execution's record as it grows, read once for everyone who watches it in one process."""

from __future__ import annotations

import asyncio

from ferryman.domain.calls.call import Ticket, TicketState
from ferryman.domain.executions.execution import Execution, Status, Step
from ferryman.ports.executions import Executions


class Feed:
    """One execution with its steps and calls, as of the last read; `current` is None once it is deleted."""

    def __init__(self, executions: Executions, execution: Execution) -> None:
        self.owner = execution.owner
        self.current: Execution | None = execution
        self.steps: list[Step] = []
        self.tickets: dict[int, Ticket] = {}
        self._id = execution.id
        self._executions = executions
        self._reads = 0
        self._lock = asyncio.Lock()

    @property
    def was_read(self) -> bool:
        """Whether the steps and calls of the execution are here."""
        return self._reads > 0

    async def refresh(self, seen: int) -> int:
        """Read the record, unless another watcher has since read number `seen` (0: none). Return the last read's number."""
        async with self._lock:
            if self._reads == seen:
                await self._read()
                self._reads += 1
            return self._reads

    async def _read(self) -> None:
        """Read the execution, and of its steps and calls what is new or not settled yet."""
        executions = self._executions
        # the execution is read before its parts: a terminal one has all of them by then, and a queued one none yet
        current = self.current if self._reads == 0 else await executions.get(self._id)
        if current is not None and current.status is not Status.QUEUED:
            self.steps += await executions.steps(self._id, after=len(self.steps))
            unsettled = (seq for seq in sorted(self.tickets) if self.tickets[seq].state is not TicketState.SETTLED)
            first = next(unsettled, max(self.tickets, default=-1) + 1)
            self.tickets.update((ticket.seq, ticket) for ticket in await executions.tickets(self._id, first=first))
        self.current = current
