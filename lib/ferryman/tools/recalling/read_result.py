"""The tool `read_result`: a result of this conversation, of which the model was shown a part or a reference, from any place on.

Which conversation that is only the execution says. What is read is stored without credentials, and is scanned again for those
that the task has by now: all of it, before a page is cut from it, since pages of chosen beginnings would hold such a credential
piece by piece. It is content of others, and framed as such.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from ferryman.catalog.tools import holds_secrets
from ferryman.domain.calls.call import Ticket, ToolCallResult
from ferryman.domain.calls.keyless_answer import KeylessAnswer
from ferryman.domain.calls.part import PartKind
from ferryman.domain.calls.refusal import ERROR
from ferryman.domain.conversations.images import replace_images
from ferryman.domain.conversations.turns import read_result as read_kept
from ferryman.domain.executions.execution import Execution
from ferryman.ports.clock import Clock
from ferryman.ports.conversations import Conversations
from ferryman.ports.executions import Executions
from ferryman.ports.model import ReplyScanner
from ferryman.ports.tickets import Tickets
from ferryman.tools.keyless.calling import KeylessCalls

PAGE_CHARACTERS = 9_000
"""Of a result in one call: with the line that says how to read on, a chat's model is shown all of it."""

NUMBER_MAX = 1_000_000
INVALID = "invalid_arguments"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultReadings:
    """Executes the calls."""

    tickets: Tickets
    scanner: ReplyScanner
    clock: Clock
    conversations: Conversations
    executions: Executions

    async def execute(self, ticket: Ticket, *, execution: Execution) -> Ticket:
        """Return the ticket as it settled. Raise `StaleError` or `UnavailableError`; then the call may be made again."""
        calls = KeylessCalls(tickets=self.tickets, scanner=self.scanner, clock=self.clock, ask=partial(self._ask, execution))
        return await calls.execute(ticket, execution=execution)

    async def _ask(self, execution: Execution, _: str, body: Mapping[str, Any]) -> KeylessAnswer:
        arguments = body["arguments"]
        numbers = {name: arguments.get(name, 0 if name == "offset" else None) for name in ("message", "call", "offset")}
        for name, number in numbers.items():
            if type(number) is not int or not 0 <= number <= NUMBER_MAX:
                return KeylessAnswer(f"{ERROR}{name}: a whole number from 0 to {NUMBER_MAX:,} is needed", INVALID)
        result = await self._find(execution, numbers["message"], numbers["call"])
        if result is None:
            return KeylessAnswer(f"{ERROR}no message of this conversation has such a call, or it has expired", INVALID)
        return KeylessAnswer(write_page(await self._redact(execution, read_text(result)), **numbers), None)

    async def _redact(self, execution: Execution, text: str) -> str:
        """Return a text without credentials. Raise `RejectedError`, `StaleError` or `UnavailableError`."""
        if execution.policy is not None and not holds_secrets(execution.policy):
            return text
        return str((await self.scanner.scan(execution, [{"type": "text", "text": text}]))[0]["text"])

    async def _find(self, execution: Execution, message: int, call: int) -> ToolCallResult | None:
        if not execution.answer:
            return None
        if message == execution.answer:
            return await self._read_ticket(execution.id, call)
        stored = await self.conversations.get_messages(execution.conversation, [message])
        if not stored:
            return None
        whole = await self._read_ticket(stored[0].execution, call) if stored[0].execution else None
        if whole is not None:
            return whole
        results = (result for turn in stored[0].parts for result in turn["results"] if result["seq"] == call)
        return next(map(read_kept, results), None)

    async def _read_ticket(self, execution: str, call: int) -> ToolCallResult | None:
        tickets = await self.executions.tickets(execution, first=call, most=1)
        return tickets[0].result if tickets and tickets[0].seq == call and not tickets[0].hidden else None


def read_text(result: ToolCallResult) -> str:
    """Return the bodies of a result without their frames and images; all of it where it is a text of the system's own."""
    bodies = [result.content[part.start : part.end] for part in result.parts if part.kind is not PartKind.FILE]
    return replace_images("\n".join(bodies) if result.parts else result.content)


def write_page(text: str, *, message: int, call: int, offset: int) -> str:
    """Return the page of `text` from character `offset` on, with the line that says how to read on where there is more."""
    page = text[offset : offset + PAGE_CHARACTERS]
    following = offset + len(page)
    if following >= len(text):
        return page
    how = json.dumps({"message": message, "call": call, "offset": following})
    return f"{page}\n[Characters {offset:,} to {following:,} of {len(text):,}. To read on: read_result {how}]"
