"""A fire: start the execution of a task's time exactly once, even when its timer is delivered twice or a process dies.

The sweep sets lost timers again, every ten minutes while any task has a schedule.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ferryman.domain.executions.occupancy import TooManyQueuedError
from ferryman.domain.tasks import firing
from ferryman.domain.tasks.firing import Fire
from ferryman.domain.tasks.task import Task
from ferryman.ports.clock import Clock
from ferryman.ports.errors import HaltedError
from ferryman.ports.log import Tracer
from ferryman.ports.queue import Queue
from ferryman.ports.schedules import Schedules, Timers


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleDependencies:
    """Everything the schedules use. `queue` delivers executions, `timers` deliver the times."""

    schedules: Schedules
    queue: Queue
    timers: Timers
    clock: Clock
    tracer: Tracer


async def fire(deps: ScheduleDependencies, fire: Fire) -> bool:
    """Start the execution of `fire`. Return whether its timer may be dropped; False when it came too early and has to return.

    The process may die at any line: the next delivery finds in the documents which execution is still to be enqueued.
    """
    now = deps.clock.now()
    try:
        fired = await deps.schedules.fire(fire, now=now)
    except HaltedError as halted:
        deps.tracer.line("fire.halted", task=fire.task, reason=str(halted))
        return True  # its time stays the task's next one, and the sweep asks again
    except TooManyQueuedError as full:
        # its time stays the task's next one: a timer of its own asks again, so that the queue is not slowed by a failure
        await deps.timers.set(fire, due=now + firing.FULL_PAUSE, wake_up="full")
        deps.tracer.line("fire.put_back", task=fire.task, reason=str(full))
        return True
    if fired.execution is not None:
        await deps.queue.enqueue(fired.execution.id, slice=0, wake_up="fire" if fired.replaced else "")
    task = fired.task
    if task is None or task.schedule_generation != fire.generation:
        deps.tracer.line("fire.void", task=fire.task, at=fire.at.isoformat(), paused=task.paused if task else None)
        return True
    if task.next_fire_at == fire.at and now < fire.at <= now + firing.EARLY:
        return False
    await arm_timer(deps.timers, task, now=now)
    deps.tracer.line("task.fired", task=task.id, at=fire.at.isoformat(), execution=fired.execution and fired.execution.id)
    return True


async def arm_timer(timers: Timers, task: Task, *, now: datetime) -> None:
    """Set the timer of the task's next time, and the sweep that finds it should it be lost."""
    following = firing.find_next_fire(task)
    if following is None:
        return
    await timers.sweep(due=firing.find_next_window(now))
    await timers.set(following, due=firing.compute_timer_due(following.at, now))


async def sweep(deps: ScheduleDependencies, *, at: datetime) -> None:
    """Set the timers that were lost, once a window each.

    `at` is the time this sweep was set for, so that a sweep that comes early does not set itself again for the same window;
    a caller with a clock of its own passes any time in the past.
    """
    if not await deps.schedules.armed():
        return  # storing the next schedule starts it again
    now = deps.clock.now()
    following = firing.find_next_window(max(now, at))
    await deps.timers.sweep(due=following)
    lost = await deps.schedules.overdue(before=now - firing.OVERDUE)
    for fire in lost:
        await deps.timers.set(fire, due=following - firing.WINDOW, wake_up="sweep")
    if lost:
        deps.tracer.line("sweep.repaired", timers=len(lost), severity="WARNING")
