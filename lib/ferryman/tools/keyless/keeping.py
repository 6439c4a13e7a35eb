"""Results beyond what a model is shown at once: kept as files of their executions before they are settled, in the same commit.

The orchestrator scans the rest of what a function said, reserves the bytes, has them written, and settles the call and its
write together. An attempt that dies in between leaves its reservation, which is closed as those of any other write are; the
next one writes a file of its own, so that no file changes after its digest was recorded.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from datetime import timedelta

from ferryman import offload
from ferryman.catalog.tools import find_tool, holds_secrets, is_kept
from ferryman.domain.calls.call import ToolCallResult, limit_result
from ferryman.domain.calls.keyless_answer import KeylessAnswer
from ferryman.domain.calls.part import Part, PartKind
from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.executions.retention import limit_retention
from ferryman.domain.files.kept import (
    KEPT_BYTES_MAX,
    KEPT_TYPE,
    KeptResult,
    build_kept,
    name_kept,
    tell_unkept,
)
from ferryman.domain.files.object import ABSENT, ObjectChangedError
from ferryman.domain.files.quota import QuotaExceededError, TooManyWritesError
from ferryman.domain.files.writes import ClosedWrite
from ferryman.domain.problem import InvalidInputError
from ferryman.domain.workspaces.workspace import WorkspaceGoneError
from ferryman.ports.errors import RejectedError, UnavailableError
from ferryman.ports.kept import KeptTimers
from ferryman.ports.model import ReplyScanner
from ferryman.ports.tickets import ClaimedCall
from ferryman.tools.keyless.expiry import find_timer_day
from ferryman.tools.keyless.framing import CHARACTERS_READ, remove_unseen
from ferryman.tools.keyless.room import FileRoom
from ferryman.tools.keyless.windows import OVERLAP, scan_windows

SCANNED_MAX = KEPT_BYTES_MAX + OVERLAP
"""Characters that are scanned: those that may be kept, and enough after them to find a credential at the cut."""

KEEPING_S = 20.0
"""How long a call may take longer because its result is kept: eleven scans, a reservation and a write."""


class NotKeptError(Exception):
    """The result is not kept; the text says why, in our own words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultFiles:
    """Keeps results in the files of the execution's workspace, as long as its executions: at most `period`, None: for ever.

    `timers` have those deleted that have expired.
    """

    room: FileRoom
    scanner: ReplyScanner
    timers: KeptTimers
    period: timedelta | None = None

    def takes(self, tool: str, policy: ExecutionPolicy, answer: KeylessAnswer) -> bool:
        """Tell whether there is a rest of the answer that is kept: that of a failure is not."""
        is_long = len(answer.content) > limit_result(find_tool(tool).policy)
        return is_long and answer.code is None and is_kept(tool, policy)

    async def keep(
        self, claimed: ClaimedCall, execution: Execution, result: ToolCallResult, answer: KeylessAnswer, scanned: str
    ) -> tuple[ToolCallResult, ClosedWrite | None]:
        """Return the result with how to read on, and the write that is closed with it; None where nothing is kept.

        `answer` is what the function said, `scanned` its beginning without credentials, of which `result` shows the head.
        Raise `StaleError` where the call is no longer this delivery's.
        """
        body, most = result.content[result.parts[0].start : result.parts[0].end], limit_result(find_tool(result.tool).policy)
        ticket = claimed.ticket
        key, write = name_kept(execution.id, execution.created_at, ticket.seq, ticket.attempt)
        try:
            async with asyncio.timeout(KEEPING_S):
                text = await self._scan(execution, answer.content, scanned)
                # all of it is shown, since it is shorter without its credentials and without what nobody sees
                if len(text) <= most and len(answer.content) <= CHARACTERS_READ:
                    return result, None
                await self._set_timer(execution, key)
                file = build_kept(key, text, is_cut=len(answer.content) > SCANNED_MAX)
                closed = await self._write(claimed, execution, file, write)
        except (NotKeptError, TimeoutError) as error:
            why = str(error) or "files cannot be reached now"
            return replace(result, content=result.content + tell_unkept(why, len(body))), None
        # neutralizing may have changed the head: what was shown as it is stored is not read again, and nothing is left out
        beginning = text[: count_same(body, text[:most])]
        line = file.tell(len(beginning.encode(errors="replace")), is_all=not answer.truncated)
        start, end = len(result.content) + 1, len(result.content) + len(line)
        part = Part(
            kind=PartKind.FILE,
            start=start,
            end=end,
            media_type=KEPT_TYPE,
            size_bytes=len(file.content),
            sha256=file.sha256,
            file=key,
        )
        return replace(result, content=result.content + line, parts=(*result.parts, part)), closed

    async def _set_timer(self, execution: Execution, key: str) -> None:
        """Have a result deleted when it has expired. Raise `NotKeptError`: none is kept that would stay."""
        period, context = limit_retention(self.period, execution.retention_days), execution.context
        if period is None:
            return
        day = find_timer_day(key, period, self.room.clock.now())
        try:
            await self.timers.set(context.workspace, owner=context.owner, day=day)
        except UnavailableError:
            raise NotKeptError("files cannot be reached now") from None

    async def _scan(self, execution: Execution, content: str, scanned: str) -> str:
        """Return the whole text without what nobody sees, and without credentials. Raise `NotKeptError` and `StaleError`."""
        try:
            rest = await remove_unseen(execution.owner, content[CHARACTERS_READ:SCANNED_MAX])
            if execution.policy is not None and not holds_secrets(execution.policy):
                return scanned + rest

            async def scan(window: str) -> str:
                (block,) = await self.scanner.scan(execution, [{"type": "text", "text": window}])
                return str(block["text"])

            return await scan_windows(scanned, rest, scan)
        except (offload.OverBudgetError, offload.TooManyJobsError, offload.JobFailedError, RejectedError, UnavailableError):
            raise NotKeptError("it could not be checked for credentials") from None

    async def _write(self, claimed: ClaimedCall, execution: Execution, file: KeptResult, write: str) -> ClosedWrite:
        """Store a file that was not there. Raise `NotKeptError`; its bytes stay reserved where nobody knows its outcome."""
        workspace = execution.context.workspace
        try:
            await self.room.reserve(claimed, execution, write, len(file.content), file.key)
        except (QuotaExceededError, TooManyWritesError) as error:
            raise NotKeptError(str(error)) from None
        except WorkspaceGoneError:
            raise NotKeptError("the workspace is being deleted") from None
        except UnavailableError:
            raise NotKeptError("files cannot be reached now") from None
        try:
            done = await self.room.files.write(
                workspace, file.key, file.content, content_type=KEPT_TYPE, write=write, expected=ABSENT
            )
        except (ObjectChangedError, InvalidInputError):
            await self._release(workspace, write)
            raise NotKeptError(f"there is another file at {file.key}") from None
        except UnavailableError:
            raise NotKeptError("files cannot be reached now") from None
        return ClosedWrite(name=write, writes=done.writes)

    async def _release(self, workspace: str, write: str) -> None:
        try:
            await self.room.quotas.close(workspace, write, ())
        except UnavailableError:
            return  # the next write of the workspace closes it, a day later


def count_same(text: str, other: str) -> int:
    """Return how many characters two texts begin with alike."""
    most = min(len(text), len(other))
    if text[:most] == other[:most]:
        return most
    return next(place for place in range(most) if text[place] != other[place])
