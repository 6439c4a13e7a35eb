"""Schedules on doubles: a clock turned by hand, timers that come when it has come to them, and one task."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest

from ferryman.domain.executions.execution import Execution, Status
from ferryman.domain.tasks import firing
from ferryman.domain.tasks.schedule import Schedule, ScheduleType
from ferryman.domain.tasks.task import Task
from ferryman.inmemory.clock import START, ManualClock
from ferryman.inmemory.log import RecordingLog
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.queue import MemoryQueue, MemoryTimers, QueuedTimer
from ferryman.inmemory.schedules import MemorySchedules
from ferryman.schedules.fire import ScheduleDependencies, arm_timer, fire, sweep
from tests.builders import build_task

HOURLY = Schedule(type=ScheduleType.CRON, cron="0 * * * *")
TASK = build_task(id="task_1")


@dataclass
class Stage:
    """Everything the schedules touch, for a test to look at and to turn."""

    memory: Memory = field(default_factory=Memory)
    clock: ManualClock = field(default_factory=ManualClock)
    log: RecordingLog = field(default_factory=RecordingLog)
    queue: MemoryQueue = field(default_factory=MemoryQueue)
    timers: MemoryTimers = field(default_factory=MemoryTimers)

    def deps(self, **ports: Any) -> ScheduleDependencies:
        mine = {"schedules": MemorySchedules(self.memory), "queue": self.queue, "timers": self.timers}
        return ScheduleDependencies(clock=self.clock, tracer=self.log, **{**mine, **ports})

    @property
    def task(self) -> Task:
        return self.memory.tasks["task_1"]

    @property
    def executions(self) -> list[Execution]:
        """What was made, in the order of the times it was made for."""
        return sorted(self.memory.executions.values(), key=lambda execution: execution.scheduled_for or START)

    @property
    def enqueued(self) -> list[str]:
        return [delivery.execution for delivery in self.queue.waiting]

    async def schedule(self, schedule: Schedule | None = HOURLY, **changes: Any) -> None:
        """Store the schedule, as the API does."""
        before = self.memory.tasks.get("task_1", TASK)
        task = firing.rearm(replace(before, schedule=schedule, **changes), now=self.clock.now())
        self.memory.tasks["task_1"] = task
        await arm_timer(self.timers, task, now=self.clock.now())

    async def deliver(self, timer: QueuedTimer, deps: ScheduleDependencies | None = None) -> bool:
        """Deliver a timer once, and return False when it is to be delivered again."""
        deps = deps or self.deps()
        if timer.fire is not None:
            return await fire(deps, timer.fire)
        await sweep(deps, at=timer.due)
        return True

    async def turn(self, by: timedelta, *, lose: bool = False) -> None:
        """Turn the clock, delivering each timer at its time; or, to `lose` them, those of tasks are dropped."""
        end = self.clock.now() + by
        while (timer := self.timers.next()) is not None and timer.due <= end:
            self.clock.turn(max(timedelta(0), timer.due - self.clock.now()))
            if not (lose and timer.fire):
                assert await self.deliver(timer)
            self.timers.remove(timer)
        self.clock.turn(end - self.clock.now())

    def end(self, execution: Execution, status: Status) -> None:
        self.memory.executions[execution.id] = replace(execution, status=status, completed_at=self.clock.now())


@pytest.fixture
def stage() -> Stage:
    return Stage()
