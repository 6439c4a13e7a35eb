"""What calls of files need besides: the execution's workspace, and bytes of its quota, reserved before and closed after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ferryman.catalog.tools import find_tool
from ferryman.domain.calls import refusal
from ferryman.domain.calls.keyless_answer import KeylessAnswer
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.executions.execution import Execution
from ferryman.domain.files.growth import measure_growth
from ferryman.domain.files.keys import clean_key
from ferryman.domain.files.quota import QuotaExceededError, TooManyWritesError
from ferryman.domain.files.writes import ClosedWrite, StoredWrite, name_call, read_rows
from ferryman.domain.labels.label import OWNED, FlowLabel, Integrity
from ferryman.domain.problem import InvalidInputError
from ferryman.domain.workspaces.workspace import WorkspaceGoneError
from ferryman.ports.errors import RejectedError, UnavailableError
from ferryman.ports.tickets import ClaimedCall
from ferryman.tools.keeping.room import FileRoom
from ferryman.tools.keyless.hook import CallTarget


@dataclass(frozen=True, slots=True, kw_only=True)
class FileHook:
    """`CallHook` of the tools of files. A call that writes is one write, named by its execution and its number."""

    room: FileRoom

    async def find_target(self, claimed: ClaimedCall, execution: Execution) -> CallTarget:
        ticket, workspace = claimed.ticket, execution.context.workspace
        is_change = bool(find_tool(ticket.tool).policy.changes)
        if is_change and ticket.redacted:
            raise CallRefusedError(refusal.LEAK_IN_ARGUMENTS)
        key = _read_key(ticket.display_arguments)
        try:
            if claimed.again and is_change and await self._is_written(workspace, key, execution.id, ticket.seq):
                return CallTarget(name=key, is_done=True)
            present = await self.room.files.head(workspace, key) if key else None
        except InvalidInputError:
            return CallTarget(name=key)  # the tool will refuse it
        return CallTarget(name=key, version="" if present is None else present.version)

    async def _is_written(self, workspace: str, key: str, execution: str, seq: int) -> bool:
        return await self.room.files.find(workspace, key, write=name_call(execution, seq)) is not None

    async def prepare(self, claimed: ClaimedCall, execution: Execution) -> Mapping[str, Any]:
        ticket, workspace = claimed.ticket, execution.context.workspace
        write = name_call(execution.id, ticket.seq)
        addition = {"workspace": workspace, "write": write, "is_done": False, "integrity": ticket.label.integrity.value}
        growth = measure_growth(bool(find_tool(ticket.tool).policy.changes), ticket.display_arguments)
        if growth is None:
            return addition
        if ticket.redacted:  # a file with a gap in it is not what was to be written
            raise CallRefusedError(refusal.LEAK_IN_ARGUMENTS)
        key = _read_key(ticket.display_arguments)
        try:
            quota = await self.room.reserve(execution, write, growth, key)
        except QuotaExceededError as error:
            raise CallRefusedError(refusal.refuse_file(str(error), full=True)) from None
        except TooManyWritesError as error:
            raise CallRefusedError(refusal.refuse_file(str(error), full=False)) from None
        except WorkspaceGoneError:
            raise CallRefusedError(refusal.refuse_file("the workspace is being deleted", full=True)) from None
        return {**addition, "is_done": quota.reservations[write].is_settled}

    async def conclude(self, claimed: ClaimedCall, execution: Execution, answer: KeylessAnswer | None) -> ClosedWrite | None:
        ticket, workspace = claimed.ticket, execution.context.workspace
        if not find_tool(ticket.tool).policy.changes:
            return None
        write = name_call(execution.id, ticket.seq)
        if answer is not None:
            growth = measure_growth(True, ticket.display_arguments) or 0
            return ClosedWrite(name=write, writes=_read_writes(answer, write, growth))
        try:
            done = await self.room.files.find(workspace, _read_key(ticket.display_arguments), write=write)
        except (UnavailableError, InvalidInputError):
            return None  # its bytes stay reserved until somebody knows
        return ClosedWrite(name=write, writes=() if done is None else done.writes)

    def label_answer(self, answer: KeylessAnswer) -> FlowLabel | None:
        is_trusted = answer.code is None and answer.about.get("read") == Integrity.TRUSTED
        return OWNED if is_trusted else None


def _read_key(arguments: Mapping[str, Any]) -> str:
    """Return the cleaned key of a call, empty where the tool will refuse it."""
    key = arguments.get("key")
    try:
        return clean_key(key) if isinstance(key, str) else ""
    except InvalidInputError:
        return ""


def _read_writes(answer: KeylessAnswer, write: str, growth: int) -> tuple[StoredWrite, ...]:
    """Return the writes that the function tells of; raise `RejectedError` for what cannot be."""
    try:
        writes = read_rows(answer.about.get("writes", []))
    except ValueError as error:
        raise RejectedError(str(error)) from None
    if writes and (writes[0].name != write or writes[0].new_bytes - writes[0].old_bytes > growth):
        raise RejectedError("the function tells of another write than was reserved")
    return writes
