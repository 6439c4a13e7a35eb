"""Schedules over HTTP: what storing a scheduled task asks for besides the task itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.domain import firing
from ferryman.domain.owner import Owner
from ferryman.domain.schedule import SCHEDULED_PER_OWNER_MAX
from ferryman.domain.task import Task
from ferryman.ports import Unavailable
from ferryman.schedules.fire import arm
from ferryman.serving.api.faults import conflict
from ferryman.wiring.api import House


def rearmed(before: Task, after: Task, given: Mapping[str, Any]) -> tuple[Task, tuple[str, ...]]:
    """`after` with its schedule set anew where what was `given` does that, and the fields to be stored."""
    if not firing.rearms(before, given):
        return after, tuple(given)
    return firing.armed(after, now=after.updated_at), (*given, *firing.STATE)


async def admit(house: House, owner: Owner, task: Task, before: Task | None = None) -> None:
    """Refuse one scheduled task too many, and have the sweep look for those that will be: it is set before the task is stored,
    so that whatever dies in between, the time comes. Raises `Unavailable`, with nothing stored, when it cannot be.
    """
    is_new = task.schedule is not None and (before is None or before.schedule is None)
    if is_new and await house.schedules.count(owner.id) >= SCHEDULED_PER_OWNER_MAX:
        raise conflict(f"an owner may have at most {SCHEDULED_PER_OWNER_MAX} scheduled tasks")
    if task.next_fire_at is not None:
        await house.timers.sweep(due=firing.window_after(house.clock.now()))


async def set_timer(house: House, task: Task) -> None:
    """Set the timer of the task's next time; the sweep does it where this fails."""
    try:
        await arm(house.timers, task, now=house.clock.now())
    except Unavailable as error:
        house.tracer.line("task.timer_not_set", severity="WARNING", task=task.id, error=str(error))
