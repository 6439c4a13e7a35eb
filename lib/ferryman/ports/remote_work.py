"""The port of work that goes on at an MCP server, as the loop sees it: told that nobody waits for it any longer."""

from __future__ import annotations

from typing import Protocol

from ferryman.domain.calls.call import Ticket
from ferryman.domain.executions.execution import Execution


class RemoteWork(Protocol):
    """Has the key holder tell servers that nobody waits for their work any longer. They may go on with it all the same.

    Raises `UnavailableError` where the key holder did not answer, and `StaleError` where the lease has ended.
    """

    async def cancel(self, ticket: Ticket, *, execution: Execution) -> None: ...
