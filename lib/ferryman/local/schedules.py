"""Scheduled tasks in memory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ferryman.domain import firing
from ferryman.domain.execution import Execution
from ferryman.domain.firing import Fire
from ferryman.local.halts import MemoryHalts
from ferryman.local.memory import Memory
from ferryman.ports import Fired, Halted


class MemorySchedules:
    """`ports.Schedules`."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def fire(self, fire: Fire, *, now: datetime) -> Fired:
        task, made = self._memory.tasks.get(fire.task), self._memory.executions.get(fire.execution)
        if task is None or made is not None or firing.upcoming(task) != fire or fire.at > now:
            return Fired(task=task, execution=made)
        reason = await MemoryHalts(self._memory).standing(task.owner)
        if reason is not None:
            raise Halted(reason)
        after, execution = firing.fired(task, fire, recent=self._recent(fire), now=now)
        self._memory.tasks[task.id] = after
        if execution is not None:
            self._memory.executions[execution.id] = execution
        return Fired(task=after, execution=execution)

    async def overdue(self, *, before: datetime) -> Sequence[Fire]:
        waiting = [fire for task in self._memory.tasks.values() if (fire := firing.upcoming(task)) is not None]
        return sorted((fire for fire in waiting if fire.at < before), key=lambda fire: fire.at)

    async def armed(self) -> bool:
        return any(task.next_fire_at is not None for task in self._memory.tasks.values())

    async def count(self, owner: str) -> int:
        return sum(task.owner == owner and task.schedule is not None for task in self._memory.tasks.values())

    def _recent(self, fire: Fire) -> Sequence[Execution]:
        ended = [
            (each.completed_at, each)
            for each in self._memory.executions.values()
            if (each.task, each.schedule_generation) == (fire.task, fire.generation)
            and each.status in firing.ENDED
            and each.completed_at is not None
        ]
        return [each for _, each in sorted(ended, key=lambda pair: pair[0], reverse=True)[: firing.FAILURES_MAX]]
