"""The port of kill switches."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Halts(Protocol):
    """The kill switches: each owner's own, and the operator's over the whole house (owner None).

    `standing` answers what stops the executions of `owner`, in words, or None; and what stops one that was `created` then: a
    switch that was let go since still does, or what only waited would go on.
    """

    async def standing(self, owner: str, *, created: datetime | None = None) -> str | None: ...
    async def put(self, owner: str | None, *, on: bool, now: datetime) -> None: ...
