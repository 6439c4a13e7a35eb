"""The port of open streams of events."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Streams(Protocol):
    """The streams of events that an owner has open, over all instances.

    `hold` has `stream` count among them `until` then, the first time and whenever it says that it is still open, and tells
    whether it may be: not while `most` others are. `release` ends it; one that nobody ends counts until its time is over.
    """

    async def hold(self, owner: str, stream: str, *, now: datetime, until: datetime, most: int) -> bool: ...
    async def release(self, owner: str, stream: str) -> None: ...
