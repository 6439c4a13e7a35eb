"""Results of functions without keys that are longer than a model is shown: scanned here, and kept before they are settled.

An attempt that dies in between leaves its reservation; the next one writes a file of its own, so that no file changes after its
digest was recorded.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from ferryman import offload
from ferryman.catalog.tools import find_tool, holds_secrets, is_kept
from ferryman.domain.calls.call import ToolCallResult, limit_result
from ferryman.domain.calls.keyless_answer import KeylessAnswer
from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.files.kept import UNCHECKED, build_overflow, name_kept, tell_unkept
from ferryman.domain.files.writes import ClosedWrite
from ferryman.framing.windows import CHARACTERS_READ, SCANNED_MAX, NotDividedError, scan_windows
from ferryman.ports.errors import RejectedError, UnavailableError
from ferryman.ports.model import ReplyScanner
from ferryman.ports.tickets import ClaimedCall
from ferryman.tools.keeping.storing import KEEPING_S, UNREACHABLE, KeptFiles, NotKeptError
from ferryman.tools.keyless.framing import remove_unseen, strip_content

UNSCANNED = (
    *(offload.OverBudgetError, offload.TooManyJobsError, offload.JobFailedError),
    *(NotDividedError, RejectedError, UnavailableError),
)
"""Why a text could not be checked for credentials."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultFiles:
    """Keeps the results of functions without keys in `files`."""

    files: KeptFiles
    scanner: ReplyScanner

    def takes(self, tool: str, policy: ExecutionPolicy, answer: KeylessAnswer) -> bool:
        """Tell whether the answer is longer than is shown, and the rest is kept.

        Nothing is kept of a failure, nor of a call that changes something: its own write is closed with its result.
        """
        declared = find_tool(tool).policy
        is_long = len(answer.content) > limit_result(declared)
        return is_long and answer.code is None and not declared.changes and is_kept(tool, policy)

    async def keep(
        self, claimed: ClaimedCall, execution: Execution, result: ToolCallResult, answer: KeylessAnswer, scanned: str
    ) -> tuple[ToolCallResult, ClosedWrite | None]:
        """Return the result with how to read on, and the write that is closed with it; None where nothing is kept.

        `answer` is what the function said, `scanned` its beginning without credentials, of which `result` shows the head.
        Raise `StaleError` where the call is no longer this delivery's.
        """
        most, ticket = limit_result(find_tool(result.tool).policy), claimed.ticket
        name = name_kept(execution.id, execution.created_at, ticket.seq, ticket.attempt)
        try:
            async with asyncio.timeout(KEEPING_S):
                text = await self._scan(execution, answer.content, scanned)
                # all of it is shown, since it is shorter without its credentials and without what nobody sees
                if len(text) <= most and len(answer.content) <= CHARACTERS_READ:
                    return result, None
                is_cut = len(answer.content) > SCANNED_MAX
                overflow = build_overflow(result, text, most=most, is_cut=is_cut, is_part=answer.truncated)
                return await self.files.keep(execution, result, overflow, name)
        except (NotKeptError, TimeoutError) as error:
            return tell_unkept(result, str(error) or UNREACHABLE), None

    async def _scan(self, execution: Execution, content: str, scanned: str) -> str:
        """Return the whole text without what nobody sees, and without credentials. Raise `NotKeptError` and `StaleError`."""
        try:
            rest = await remove_unseen(execution.owner, content[CHARACTERS_READ:SCANNED_MAX])
            if execution.policy is not None and not holds_secrets(execution.policy):
                return scanned + rest

            async def scan(window: str) -> str:
                (block,) = await self.scanner.scan(execution, [{"type": "text", "text": window}])
                return str(block["text"])

            head = strip_content(content)
            is_window = len(head) == CHARACTERS_READ  # as nearly always: nothing was invisible
            return await scan_windows(head + rest, scan, first=scanned if is_window or not rest else None)
        except UNSCANNED:
            raise NotKeptError(UNCHECKED) from None
