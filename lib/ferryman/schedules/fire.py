"""A fire: a timer has come, and what was to happen at its time happens once, whatever is delivered twice or dies."""

from __future__ import annotations

from datetime import datetime

from ferryman import ports
from ferryman.domain import firing
from ferryman.domain.firing import Fire
from ferryman.domain.task import Task
from ferryman.ports import Halted
from ferryman.schedules.house import House


async def fire(house: House, fire: Fire) -> bool:
    """Bring `fire` about. True when its timer may be forgotten, False when it came too early and should come again.

    Every line may be the last one of this process: the next delivery finds in the documents what is still to be enqueued.
    """
    now = house.clock.now()
    try:
        fired = await house.schedules.fire(fire, now=now)
    except Halted as halted:
        house.line("fire.halted", task=fire.task, reason=str(halted))
        return True  # its time stays the task's next one, and the sweep asks again
    if fired.execution is not None:
        await house.queue.enqueue(fired.execution.id, slice=0)
    task = fired.task
    if task is None or task.schedule_generation != fire.generation:
        house.line("fire.void", task=fire.task, at=fire.at.isoformat(), paused=task.paused if task else None)
        return True
    if task.next_fire_at == fire.at and now < fire.at <= now + firing.EARLY:
        return False
    await arm(house.timers, task, now=now)
    house.line("task.fired", task=task.id, at=fire.at.isoformat(), execution=fired.execution and fired.execution.id)
    return True


async def arm(timers: ports.Timers, task: Task, *, now: datetime) -> None:
    """Set the timer of the task's next time, and have the sweep look for it should it be lost."""
    following = firing.upcoming(task)
    if following is None:
        return
    await timers.sweep(due=firing.window_after(now))
    await timers.set(following, due=firing.due(following.at, now))
