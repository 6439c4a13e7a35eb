"""The turn under way of each execution, in memory."""

from __future__ import annotations

from datetime import datetime

from ferryman.domain.conversations.live import LiveTurn
from ferryman.domain.executions import lease as rules
from ferryman.domain.executions.execution import Execution
from ferryman.domain.stale import StaleError
from ferryman.inmemory.memory import MemoryStore


class MemoryLiveTurns(MemoryStore):
    """The part of `ports.Executions` for the turn under way."""

    async def show(self, execution: Execution, turn: LiveTurn | None, *, now: datetime) -> None:
        current = self._memory.executions.get(execution.id)
        if current is None:
            raise StaleError("there is no such execution")
        rules.check_fence(current, execution, now)
        if turn is None:
            self._memory.live.pop(execution.id, None)
        else:
            self._memory.live[execution.id] = turn

    async def live(self, execution: str) -> LiveTurn | None:
        return self._memory.live.get(execution)
