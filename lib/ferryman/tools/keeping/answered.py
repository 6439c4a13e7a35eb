"""Results of functions that hold keys and are longer than a model is shown: kept after the request is over.

Such a function has no bucket. It stores the result together with its overflow, and nobody sends the call again. After a crash
at any line, keeping is repeated with the same text, the same file and the same name of its write, and has the same result.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Protocol

from ferryman.domain.calls.call import Ticket, ToolCallResult
from ferryman.domain.executions.execution import Execution
from ferryman.domain.files.kept import name_kept, tell_unkept
from ferryman.domain.files.writes import ClosedWrite
from ferryman.ports.clock import Clock
from ferryman.ports.executions import Executions
from ferryman.tools.keeping.storing import KEEPING_S, UNREACHABLE, KeptFiles, NotKeptError


class RunCall(Protocol):
    """Has the function of a tool execute a call; the ticket that it returns is settled, or has answered."""

    def __call__(self, ticket: Ticket, *, execution: Execution) -> Awaitable[Ticket]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredCalls:
    """Executes the calls of functions that hold keys. Without `files`, where there is no bucket, overflows are dropped."""

    run: RunCall
    executions: Executions
    clock: Clock
    files: KeptFiles | None = None

    async def execute(self, ticket: Ticket, *, execution: Execution) -> Ticket:
        """Return the ticket as it settled. Raise what `run` does, `StaleError` or `UnavailableError`."""
        answered = ticket if ticket.is_answered else await self.run(ticket, execution=execution)
        if not answered.is_answered or answered.result is None:
            return answered
        result, write = await self._keep(answered, answered.result, execution)
        return await self.executions.settle_answered(execution, ticket.seq, result, write, now=self.clock.now())

    async def _keep(
        self, ticket: Ticket, result: ToolCallResult, execution: Execution
    ) -> tuple[ToolCallResult, ClosedWrite | None]:
        overflow = await self.executions.read_overflow(execution.id, ticket.seq)
        if self.files is None or overflow is None:  # it is gone where another delivery has settled the call
            return result, None
        name = name_kept(execution.id, execution.created_at, ticket.seq, ticket.attempt)
        try:
            async with asyncio.timeout(KEEPING_S):
                return await self.files.keep(execution, result, overflow, name, answered=ticket.seq)
        except (NotKeptError, TimeoutError) as error:
            return tell_unkept(result, str(error) or UNREACHABLE), None
