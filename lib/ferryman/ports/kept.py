"""The port of the timers of kept results."""

from __future__ import annotations

from datetime import date
from typing import Protocol


class KeptTimers(Protocol):
    """Timers by which expired results go. Setting the same workspace, day and slice twice sets one.

    `set` has the kept results of `workspace` examined on `day` (UTC), or now where that has begun; a further `slice` goes
    on after `cursor` of their list. It raises `UnavailableError`.
    """

    async def set(self, workspace: str, *, owner: str, day: date, slice: int = 0, cursor: str = "") -> None: ...
