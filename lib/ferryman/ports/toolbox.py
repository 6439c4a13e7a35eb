"""The port that executes a journaled call in the function of its tool."""

from __future__ import annotations

from typing import Protocol

from ferryman.domain.calls.call import Ticket
from ferryman.domain.executions.execution import Execution


class Toolbox(Protocol):
    """The functions that execute calls."""

    async def run(self, ticket: Ticket, *, execution: Execution) -> Ticket:
        """Return the ticket as its tool settled it. Raise `StaleError` or `UnavailableError`."""
        ...
