"""A call of a function without keys: claimed, scanned and settled by the process that asks for it.

Such a function has no store and knows no credential. So it is given the arguments as they were scanned, and its result is
scanned by a key holder before it is stored.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from ferryman.catalog.tools import find_tool, holds_secrets
from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import (
    CALL_ATTEMPTS_MAX,
    RESULT_CHARACTERS_MAX,
    TRUNCATED,
    Ticket,
    TicketState,
    ToolCallResult,
    describe_parts,
    limit_result,
)
from ferryman.domain.calls.suggestion import FUNCTION_FAILED, SUGGESTIONS
from ferryman.domain.executions.execution import Execution
from ferryman.ports.clock import Clock
from ferryman.ports.errors import RejectedError, UnavailableError
from ferryman.ports.model import ReplyScanner
from ferryman.ports.tickets import CallRequest, ClaimedCall, Tickets

SCANNED_CHARACTERS_MAX = 4 * RESULT_CHARACTERS_MAX
"""How much of a result is scanned, and kept before it is cut: a cut could hide half of a key from the scan."""

Ask = Callable[[str, Mapping[str, Any]], Awaitable[tuple[str, str | None]]]
"""Has a function run a tool: takes the function's name and the body, and returns what the tool says, and the code of a failure
or None. Raises `UnavailableError`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalFunctionCalls:
    """Executes the calls of the tools whose functions hold no key."""

    tickets: Tickets
    scanner: ReplyScanner
    clock: Clock
    ask: Ask

    async def execute(self, ticket: Ticket, *, execution: Execution) -> Ticket:
        """Return the ticket as it settled. Raise `StaleError` or `UnavailableError`; then the call may be made again."""
        call_request = CallRequest(
            execution=execution.id, seq=ticket.seq, epoch=execution.epoch, task=execution.task, owner=execution.owner
        )
        claimed = await self.tickets.claim(call_request, tool=find_tool(ticket.tool).function, now=self.clock.now())
        if claimed.ticket.result is not None:
            return claimed.ticket
        try:
            result = await self._run(claimed, execution)
        except UnavailableError:
            if not claimed.again:
                await self.tickets.release(claimed)
            raise
        now = self.clock.now()
        await self.tickets.settle(claimed, result, now=now)
        return replace(claimed.ticket, state=TicketState.SETTLED, settled_at=now, result=result)

    async def _run(self, claimed: ClaimedCall, execution: Execution) -> ToolCallResult:
        ticket = claimed.ticket
        if ticket.attempt > CALL_ATTEMPTS_MAX:
            return describe_parts(ToolCallResult.from_refusal(ticket.tool, refusal.INTERNAL_ERROR))
        body = {
            "call": ticket.call,
            "tool": ticket.tool,
            "arguments": dict(ticket.display_arguments),
            "user": str(uuid5(NAMESPACE_URL, execution.owner)),
        }
        asked_at = self.clock.now()
        content, code = await self.ask(find_tool(ticket.tool).function, body)
        code = code if code is None or code in SUGGESTIONS else FUNCTION_FAILED  # a code is not scanned: it is one of ours
        latency_ms = (self.clock.now() - asked_at).total_seconds() * 1_000
        try:
            text = await self._scan(execution, content[:SCANNED_CHARACTERS_MAX])
        except RejectedError:  # a credential of the task does not open: nobody can say what the text holds
            return describe_parts(ToolCallResult.from_refusal(ticket.tool, refusal.INTERNAL_ERROR))
        most = limit_result(find_tool(ticket.tool).policy)
        if len(text) > most:
            text = text[:most] + TRUNCATED
        result = ToolCallResult(tool=ticket.tool, content=text, ok=code is None, code=code)
        suggestion = None if code is None else SUGGESTIONS[code]
        result = replace(result, suggestion=suggestion, response_size_bytes=len(content.encode()), latency_ms=latency_ms)
        return describe_parts(result)

    async def _scan(self, execution: Execution, content: str) -> str:
        """Return the result as it may be stored: with every credential of the task redacted."""
        policy = execution.policy
        if policy is not None and not holds_secrets(policy):
            return content  # there is no secret that it could contain
        (block,) = await self.scanner.scan(execution, [{"type": "text", "text": content}])
        return str(block["text"])
