"""The sweep: times that have passed without their timer are asked for again, every ten minutes while any task waits."""

from __future__ import annotations

from datetime import datetime

from ferryman.domain.firing import OVERDUE, WINDOW, window_after
from ferryman.schedules.house import House


async def sweep(house: House, *, at: datetime) -> None:
    """Set the timers that were lost, once a window each. `at` is the time this sweep was set for, so that one that comes too
    early does not take itself for the next; whoever calls it by a clock of their own says any time that has passed.
    """
    if not await house.schedules.armed():
        return  # whoever stores the next schedule starts it again
    now = house.clock.now()
    following = window_after(max(now, at))
    await house.timers.sweep(due=following)
    lost = await house.schedules.overdue(before=now - OVERDUE)
    for fire in lost:
        await house.timers.set(fire, due=following - WINDOW, nudge="sweep")
    if lost:
        house.line("sweep.repaired", timers=len(lost), severity="WARNING")
