"""The ports of the time, and of new ids."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """The time, in UTC."""

    def now(self) -> datetime: ...


class Ids(Protocol):
    """New ids: URL-safe, at most 40 characters, not guessable."""

    def new(self, prefix: str) -> str: ...
