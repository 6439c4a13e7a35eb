"""Scheduled tasks in memory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ferryman.domain.executions.execution import Execution
from ferryman.domain.tasks import firing
from ferryman.domain.tasks.firing import Fire
from ferryman.inmemory.memory import PlannedStore
from ferryman.inmemory.owners import MemoryHalts
from ferryman.ports.errors import HaltedError
from ferryman.ports.schedules import FiredSchedule


class MemorySchedules(PlannedStore):
    """`ports.Schedules`."""

    async def fire(self, fire: Fire, *, now: datetime) -> FiredSchedule:
        task, execution = self._memory.tasks.get(fire.task), self._memory.executions.get(fire.execution)
        if task is None or execution is not None or firing.find_next_fire(task) != fire or fire.at > now:
            return FiredSchedule(task=task, execution=execution)
        reason = await MemoryHalts(self._memory).find_halt_reason(task.owner)
        if reason is not None:
            raise HaltedError(reason)
        after, execution = firing.fire_task(task, fire, recent=self._recent(fire), now=now)
        if execution is not None:
            plan, occupied = self._find_plan(task.owner), self._occupied(task.owner)
            most = plan.executions_queued if plan else len(occupied.queued) + 1
            self._memory.occupancy[task.owner] = occupied.enqueue(execution, most=most)
            self._memory.requests.pop(execution.id, None)
            execution = self._keep(execution)
            self._memory.executions[execution.id] = execution
        self._memory.tasks[task.id] = after
        return FiredSchedule(task=after, execution=execution)

    async def overdue(self, *, before: datetime) -> Sequence[Fire]:
        waiting = [fire for task in self._memory.tasks.values() if (fire := firing.find_next_fire(task)) is not None]
        return sorted((fire for fire in waiting if fire.at < before), key=lambda fire: fire.at)

    async def armed(self) -> bool:
        return any(task.next_fire_at is not None for task in self._memory.tasks.values())

    def _recent(self, fire: Fire) -> Sequence[Execution]:
        ended = [
            (execution.completed_at, execution)
            for execution in self._memory.executions.values()
            if (execution.task, execution.schedule_generation) == (fire.task, fire.generation)
            and execution.status in firing.ENDED
            and execution.completed_at is not None
        ]
        return [execution for _, execution in sorted(ended, key=lambda pair: pair[0], reverse=True)[: firing.FAILURES_MAX]]
