"""The port of the time."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """The time, in UTC."""

    def now(self) -> datetime: ...
