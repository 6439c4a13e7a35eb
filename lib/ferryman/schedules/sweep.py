"""The sweep: set lost timers again, every ten minutes while any task has a schedule."""

from __future__ import annotations

from datetime import datetime

from ferryman.domain.tasks.firing import OVERDUE, WINDOW, find_next_window
from ferryman.schedules.dependencies import ScheduleDependencies


async def sweep(deps: ScheduleDependencies, *, at: datetime) -> None:
    """Set the timers that were lost, once a window each.

    `at` is the time this sweep was set for, so that a sweep that comes early does not set itself again for the same window;
    a caller with a clock of its own passes any time in the past.
    """
    if not await deps.schedules.armed():
        return  # storing the next schedule starts it again
    now = deps.clock.now()
    following = find_next_window(max(now, at))
    await deps.timers.sweep(due=following)
    lost = await deps.schedules.overdue(before=now - OVERDUE)
    for fire in lost:
        await deps.timers.set(fire, due=following - WINDOW, wake_up="sweep")
    if lost:
        deps.line("sweep.repaired", timers=len(lost), severity="WARNING")
