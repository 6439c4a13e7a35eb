"""A call of a function without keys: claimed, scanned and settled by the process that asks for it.

Such a function has no store and knows no credential. So it is given the arguments as they were scanned, and its result is
scanned by a key holder before it is stored.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from ferryman.catalog.tools import find_tool, holds_secrets
from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import (
    CALL_ATTEMPTS_MAX,
    RESULT_CHARACTERS_MAX,
    TRUNCATED,
    Ticket,
    TicketState,
    ToolCallResult,
    limit_result,
)
from ferryman.domain.calls.labelling import label_result
from ferryman.domain.calls.suggestion import FUNCTION_FAILED, SUGGESTIONS
from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.owners.user_changes import UserChanges, UserChangesError
from ferryman.domain.tools.settings import TIMEOUT_LIMIT_S
from ferryman.domain.tools.tool import ToolPolicy
from ferryman.ports.clock import Clock
from ferryman.ports.errors import RejectedError, UnavailableError
from ferryman.ports.local_functions import AskFunction, LocalAnswer, build_user_id
from ferryman.ports.model import ReplyScanner
from ferryman.ports.tickets import CallRequest, ClaimedCall, Tickets

SCANNED_CHARACTERS_MAX = 4 * RESULT_CHARACTERS_MAX
"""How much of a result is scanned, and kept before it is cut: a cut could hide half of a key from the scan."""

CONFLICTS_MAX = 3
"""How often a tool is run where what it read of the user's documents was changed before its result was stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalFunctionCalls:
    """Executes the calls of the tools whose functions hold no key."""

    tickets: Tickets
    scanner: ReplyScanner
    clock: Clock
    ask: AskFunction

    async def execute(self, ticket: Ticket, *, execution: Execution) -> Ticket:
        """Return the ticket as it settled. Raise `StaleError` or `UnavailableError`; then the call may be made again."""
        call_request = CallRequest(
            execution=execution.id, seq=ticket.seq, epoch=execution.epoch, task=execution.task, owner=execution.owner
        )
        claimed = await self.tickets.claim(call_request, tool=find_tool(ticket.tool).function, now=self.clock.now())
        if claimed.ticket.result is not None:
            return claimed.ticket
        for _ in range(CONFLICTS_MAX):
            try:
                result, changes = await self._run(claimed, execution)
            except UnavailableError:
                if not claimed.again:
                    await self.tickets.release(claimed)
                raise
            result = label_result(result, find_tool(ticket.tool).policy, seq=ticket.seq, arguments=ticket.label)
            now = self.clock.now()
            if await self._settle(claimed, execution, result, changes, now):
                return replace(claimed.ticket, state=TicketState.SETTLED, settled_at=now, result=result)
        # nothing was stored: the call may be made again
        await self.tickets.release(claimed)
        raise UnavailableError("the user's documents are being changed by others")

    async def _settle(
        self, claimed: ClaimedCall, execution: Execution, result: ToolCallResult, changes: UserChanges, now: datetime
    ) -> bool:
        """Store the result, with what the tool has changed; return False where that rests on what is no longer so."""
        if changes.writes:
            return await self.tickets.settle_changes(claimed, result, changes, context=execution.context, now=now)
        await self.tickets.settle(claimed, result, now=now)
        return True

    async def _run(self, claimed: ClaimedCall, execution: Execution) -> tuple[ToolCallResult, UserChanges]:
        ticket = claimed.ticket
        fault = ToolCallResult.from_refusal(ticket.tool, refusal.INTERNAL_ERROR)
        if ticket.attempt > CALL_ATTEMPTS_MAX:
            return fault, UserChanges()
        body = {
            "call": ticket.call,
            "tool": ticket.tool,
            "arguments": dict(ticket.display_arguments),
            "user": build_user_id(execution.context),
            "within_s": limit_time(ticket, claimed.policy),
        }
        asked_at = self.clock.now()
        try:
            answer = await self.ask(find_tool(ticket.tool).function, body)
            latency_ms = (self.clock.now() - asked_at).total_seconds() * 1_000
            check_collections(find_tool(ticket.tool).policy, answer.changes)
            text, changes = await self._scan(execution, answer)
        except RejectedError:  # no answer, or a credential of the task does not open: nobody can say what the text holds
            return fault, UserChanges()
        most = limit_result(find_tool(ticket.tool).policy)
        if len(text) > most:
            text = text[:most] + TRUNCATED
        # a code is not scanned: it is one of ours
        code = answer.code if answer.code is None or answer.code in SUGGESTIONS else FUNCTION_FAILED
        suggestion = None if code is None else SUGGESTIONS[code]
        result = ToolCallResult(tool=ticket.tool, content=text, ok=code is None, code=code, suggestion=suggestion)
        result = replace(result, response_size_bytes=len(answer.content.encode()), latency_ms=latency_ms)
        return result, changes if code is None else UserChanges()

    async def _scan(self, execution: Execution, answer: LocalAnswer) -> tuple[str, UserChanges]:
        """Return the content and the changes as they may be stored: with every credential of the task redacted.

        Raise `RejectedError` where one is in a path, or where the documents cannot be written without it.
        """
        content, changes, policy = answer.content[:SCANNED_CHARACTERS_MAX], answer.changes, execution.policy
        if policy is not None and not holds_secrets(policy):
            return content, changes  # there is no secret that they could contain
        written = [
            {"type": "tool_use", "id": str(number), "name": "write", "input": {"path": path, "document": document}}
            for number, (path, document) in enumerate(changes.writes.items())
        ]
        text, *blocks = await self.scanner.scan(execution, [{"type": "text", "text": content}, *written])
        inputs = [block["input"] for block in blocks]
        if [row.get("path") for row in inputs] != list(changes.writes) or any("document" not in row for row in inputs):
            raise RejectedError("a document cannot be written without a credential that it holds")
        try:
            return str(text["text"]), UserChanges(changes.reads, {row["path"]: row["document"] for row in inputs})
        except UserChangesError as error:  # a document is longer without its credentials
            raise RejectedError(str(error)) from None


def limit_time(ticket: Ticket, policy: ExecutionPolicy) -> float:
    """Return the seconds that a call may take, by its tool and the agent's settings of it."""
    timeout_s = find_tool(ticket.tool).policy.timeout_s
    return float(policy.settings_of(ticket.tool).limit_time(TIMEOUT_LIMIT_S if timeout_s is None else timeout_s))


def check_collections(policy: ToolPolicy, changes: UserChanges) -> None:
    """Raise `RejectedError` where a tool reads or writes other collections of its user than its policy names."""
    for paths, admitted in ((changes.reads, policy.reads), (changes.writes, policy.changes)):
        if any(path.partition("/")[0] not in admitted for path in paths):
            raise RejectedError("the tool has left the collections that it may use")
