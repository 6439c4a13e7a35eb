"""The sweep: times that have passed without their timer are asked for again, every ten minutes while any task waits."""

from __future__ import annotations

from datetime import datetime

from ferryman.domain.firing import OVERDUE, window_after
from ferryman.schedules.house import House


async def sweep(house: House, *, at: datetime) -> None:
    """Set the timers that were lost. `at` is the time this sweep was set for, and the next one is a window later."""
    if not await house.schedules.armed():
        return  # whoever stores the next schedule starts it again
    now = house.clock.now()
    await house.timers.sweep(due=window_after(max(now, at)))
    lost = await house.schedules.overdue(before=now - OVERDUE)
    for fire in lost:
        await house.timers.set(fire, due=at, nudge="sweep")
    if lost:
        house.line("sweep.repaired", timers=len(lost), severity="WARNING")
