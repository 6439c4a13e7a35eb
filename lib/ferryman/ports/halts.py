"""The port of kill switches."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Protocol, TypeAlias

Stoppable: TypeAlias = tuple[str, datetime]
"""An execution that a switch may stop: its owner, and when it was created."""


class Halts(Protocol):
    """The kill switches: one of each owner, and the operator's for the whole deployment (owner None).

    `find_halt_reason` returns a sentence that says what stops the executions of `owner`, or the one that was `created` then, or
    None. A switch that was on since then stops that one even after it was turned off, or a waiting execution would go on.
    `find_halt_reasons` returns these sentences of several executions under way at once, for those that a switch stops; what was
    on before one was created was found when it began its work.
    """

    async def list_cancelled(self, executions: Collection[str]) -> Collection[str]:
        """Return those of these executions, by id, that are to be cancelled."""

    async def find_halt_reason(self, owner: str, *, created: datetime | None = None) -> str | None: ...
    async def find_halt_reasons(self, executions: Collection[Stoppable]) -> Mapping[Stoppable, str]: ...
    async def put(self, owner: str | None, *, on: bool, now: datetime) -> None: ...
