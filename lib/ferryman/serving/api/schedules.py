"""Schedules over HTTP: what storing a scheduled task asks for besides the task itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.composition.api import ApiDependencies
from ferryman.domain.tasks import firing
from ferryman.domain.tasks.task import Task
from ferryman.ports.errors import UnavailableError
from ferryman.schedules.fire import arm_timer


def rearm_schedule(before: Task, after: Task, changes: Mapping[str, Any]) -> tuple[Task, tuple[str, ...]]:
    """Return `after`, with its schedule set again where the `changes` do that, and the names of the fields to store."""
    if not firing.must_rearm(before, changes):
        return after, tuple(changes)
    return firing.rearm(after, now=after.updated_at), (*changes, *firing.SCHEDULE_FIELDS)


async def start_sweep(deps: ApiDependencies, task: Task) -> None:
    """Have the sweep look for the times of `task`: before the task is stored, so that the time comes whatever dies in between.

    Raises `UnavailableError` when that cannot be.
    """
    if task.next_fire_at is not None:
        await deps.timers.sweep(due=firing.find_next_window(deps.clock.now()))


async def set_timer(deps: ApiDependencies, task: Task) -> None:
    """Set the timer of the task's next time; the sweep does it where this fails."""
    try:
        await arm_timer(deps.timers, task, now=deps.clock.now())
    except UnavailableError as error:
        deps.tracer.line("task.timer_not_set", severity="WARNING", task=task.id, error=str(error))
