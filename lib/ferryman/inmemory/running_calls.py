"""Calls under way in memory, read and never written."""

from __future__ import annotations

from datetime import datetime

from ferryman.domain.executions.execution import Execution
from ferryman.domain.stale import StaleError
from ferryman.inmemory.memory import MemoryStore
from ferryman.ports.platform import RunningCall, check_call, check_running


class MemoryRunningCalls(MemoryStore):
    """`ports.RunningCalls`."""

    async def get(self, execution: str, seq: int, *, epoch: int, now: datetime) -> RunningCall:
        current = await self.find_execution(execution, epoch=epoch, now=now)
        ticket = self._memory.tickets.get(execution, {}).get(seq)
        return RunningCall(execution=current, ticket=check_call(ticket, epoch=epoch, now=now))

    async def find_execution(self, execution: str, *, epoch: int, now: datetime) -> Execution:
        current = self._memory.executions.get(execution)
        if current is None:
            raise StaleError("there is no such execution")
        return check_running(current, epoch, now)
