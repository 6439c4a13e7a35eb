"""How a long result becomes a file: its expiry is set, its bytes are reserved, and it is written once, by name.

The caller stores the result and closes the write in one commit. Where that fails, the bytes stay reserved, and are released or
counted as those of any other write are.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.retention import limit_retention
from ferryman.domain.files.kept import KEPT_TYPE, Overflow, add_file
from ferryman.domain.files.object import ABSENT, ObjectChangedError
from ferryman.domain.files.quota import QuotaExceededError, TooManyWritesError
from ferryman.domain.files.writes import ClosedWrite
from ferryman.domain.problem import InvalidInputError
from ferryman.domain.workspaces.workspace import WorkspaceGoneError
from ferryman.ports.errors import UnavailableError
from ferryman.ports.kept import KeptTimers
from ferryman.tools.keeping.expiry import find_timer_day
from ferryman.tools.keeping.room import FileRoom

KEEPING_S = 20.0
"""How many seconds longer a call may take because its result is kept: eleven scans, a reservation and a write."""

UNREACHABLE = "files cannot be reached now"


class NotKeptError(Exception):
    """The result is not kept; the text says why, in our own words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptFiles:
    """Keeps results in the files of the execution's workspace, as long as its executions: at most `period`, None: for ever.

    `timers` are set so that expired results are deleted.
    """

    room: FileRoom
    timers: KeptTimers
    period: timedelta | None = None

    async def keep(
        self,
        execution: Execution,
        result: ToolCallResult,
        overflow: Overflow,
        name: tuple[str, str],
        *,
        answered: int | None = None,
    ) -> tuple[ToolCallResult, ClosedWrite]:
        """Return the result with how to read on, and the write that is to be closed with it.

        `name` is the key of the file and the name of its write, `answered` as in `FileRoom.reserve`. Raise `NotKeptError`, and
        `StaleError` where the call is no longer this delivery's.
        """
        key, write = name
        await self._set_timer(execution, key)
        closed = await self._write(execution, key, overflow.content, write, answered)
        return add_file(result, overflow, key), closed

    async def _set_timer(self, execution: Execution, key: str) -> None:
        """Have a result deleted when it has expired. Raise `NotKeptError`: none is kept that would stay."""
        period, context = limit_retention(self.period, execution.retention_days), execution.context
        if period is None:
            return
        day = find_timer_day(key, period, self.room.clock.now())
        try:
            await self.timers.set(context.workspace, owner=context.owner, day=day)
        except UnavailableError:
            raise NotKeptError(UNREACHABLE) from None

    async def _write(self, execution: Execution, key: str, content: bytes, write: str, answered: int | None) -> ClosedWrite:
        """Store a file that was not there. Raise `NotKeptError`; its bytes stay reserved where nobody knows its outcome."""
        workspace = execution.context.workspace
        try:
            quota = await self.room.reserve(execution, write, len(content), key, answered=answered)
        except (QuotaExceededError, TooManyWritesError) as error:
            raise NotKeptError(str(error)) from None
        except WorkspaceGoneError:
            raise NotKeptError("the workspace is being deleted") from None
        except UnavailableError:
            raise NotKeptError(UNREACHABLE) from None
        try:
            if quota.reservations[write].is_settled:  # somebody changed the file since: another has no bytes reserved
                return await self._find(workspace, key, write)
            done = await self.room.files.write(workspace, key, content, content_type=KEPT_TYPE, write=write, expected=ABSENT)
        except (ObjectChangedError, InvalidInputError):
            await self._release(workspace, write)
            raise NotKeptError(f"there is another file at {key}") from None
        except UnavailableError:
            raise NotKeptError(UNREACHABLE) from None
        return ClosedWrite(name=write, writes=done.writes)

    async def _find(self, workspace: str, key: str, write: str) -> ClosedWrite:
        """Return the write of an earlier delivery. Raise `NotKeptError` where its file is gone, and `UnavailableError`."""
        done = await self.room.files.find(workspace, key, write=write)
        if done is None:
            await self._release(workspace, write)
            raise NotKeptError(f"the file at {key} was deleted")
        return ClosedWrite(name=write, writes=done.writes)

    async def _release(self, workspace: str, write: str) -> None:
        try:
            await self.room.quotas.close(workspace, write, ())
        except UnavailableError:
            return  # the next write of the workspace closes it, a day later
