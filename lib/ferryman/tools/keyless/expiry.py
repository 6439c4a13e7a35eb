"""Kept results whose executions are gone: deleted, the oldest first, when the workspace keeps another.

A bucket that deletes by itself would count nothing back in the quota, and not every service has such a rule.
"""

from __future__ import annotations

from datetime import timedelta

from ferryman.domain.executions.execution import Execution
from ferryman.domain.files.kept import FOLDER, is_expired, name_removal
from ferryman.domain.files.object import ObjectChangedError
from ferryman.domain.files.quota import TooManyWritesError
from ferryman.domain.problem import InvalidInputError
from ferryman.domain.workspaces.workspace import WorkspaceGoneError
from ferryman.ports.errors import UnavailableError
from ferryman.ports.tickets import ClaimedCall
from ferryman.tools.keyless.room import FileRoom

REMOVED_AT_ONCE = 3
"""More than one, so that they become fewer wherever results are kept."""


async def remove_expired(room: FileRoom, claimed: ClaimedCall, execution: Execution, period: timedelta) -> None:
    """Delete some results of executions that ended more than `period` ago, with their bytes in the quota.

    Where that does not succeed, the next call that keeps a result goes on: a deletion has the name of its file.
    """
    workspace = execution.context.workspace
    try:
        page = await room.files.list(workspace, f"{FOLDER}/", most=REMOVED_AT_ONCE)
        for entry in page.entries:
            if is_expired(entry.key, period, room.clock.now()):
                await _remove(room, claimed, execution, entry.key, entry.version)
    except (UnavailableError, InvalidInputError, ObjectChangedError, TooManyWritesError, WorkspaceGoneError):
        return


async def _remove(room: FileRoom, claimed: ClaimedCall, execution: Execution, key: str, version: str) -> None:
    workspace, write = execution.context.workspace, name_removal(key)
    await room.reserve(claimed, execution, write, 0, key)
    done = await room.files.delete(workspace, key, write=write, version=version)
    await room.quotas.close(workspace, write, () if done is None else done.writes)
    if done is not None:
        await room.files.purge(workspace, key, version=done.version)
