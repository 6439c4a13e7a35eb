"""The port of kill switches."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Halts(Protocol):
    """The kill switches: one of each owner, and the operator's for the whole deployment (owner None).

    `find_halt_reason` returns a sentence that says what stops the executions of `owner`, or the one that was `created` then, or
    None. A switch that was on since then stops that one even after it was turned off, or a waiting execution would go on.
    """

    async def find_halt_reason(self, owner: str, *, created: datetime | None = None) -> str | None: ...
    async def put(self, owner: str | None, *, on: bool, now: datetime) -> None: ...
