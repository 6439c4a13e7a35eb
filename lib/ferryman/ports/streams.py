"""The port of open streams of events."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Streams(Protocol):
    """The streams of events that an owner has open, over all instances.

    `hold` counts `stream` among them `until` then, and returns whether it may be open: not while `most` others are. It is
    called when the stream opens and while it is open. `release` ends it; one that is never released counts until its time ends.
    """

    async def hold(self, owner: str, stream: str, *, now: datetime, until: datetime, most: int) -> bool: ...
    async def release(self, owner: str, stream: str) -> None: ...
