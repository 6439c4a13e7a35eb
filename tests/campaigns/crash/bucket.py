"""The bucket of a run: the function `files` on it, what the orchestrator has of files, and what is stored in the end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, Protocol

from ferryman.catalog.tools import FILES
from ferryman.domain.calls.keyless_answer import KeylessAnswer
from ferryman.domain.copies import replace
from ferryman.domain.executions.execution import Execution
from ferryman.domain.files.quota import SETTLED_LIFETIME
from ferryman.domain.owners.plan import PRO
from ferryman.inmemory.objects import MemoryObjects
from ferryman.ports.clock import Clock as ClockPort
from ferryman.ports.file_quotas import FileQuotas
from ferryman.ports.files import Files
from ferryman.ports.kept import KeptTimers
from ferryman.ports.model import ReplyScanner
from ferryman.tools.files.hook import FileHook
from ferryman.tools.files.workspace_files import WorkspaceFiles
from ferryman.tools.keeping.room import FileRoom
from ferryman.tools.keeping.storing import KeptFiles
from ferryman.tools.keyless.hook import CallHook
from ferryman.tools.keyless.keeping import ResultFiles
from ferryman.tools.web.hook import WebHook
from tests.builders import build_policy
from tests.campaigns.crash.files import StoredFiles
from tests.plain_files import ask_files

TOOLS = ("file_read", "file_write", "file_edit")
"""Those of the task of a scenario with files."""
PERIOD = timedelta(days=30)
"""How long executions, and their results, are kept."""


class Clock(ClockPort, Protocol):
    """A clock that is turned."""

    def turn(self, by: timedelta | float) -> datetime: ...


class FilesFunction(WorkspaceFiles):
    """The function `files`: the files of workspaces, and its tools."""

    async def ask(self, body: Mapping[str, Any]) -> KeylessAnswer:
        """Run the tool that `body` names."""
        return await ask_files(self, body)


class RemoteFunction:
    """The function `files` as its callers have it: `perform` has a method of that name called, wherever the function is."""

    def __init__(self, perform: Callable[[str, tuple[Any, ...], dict[str, Any]], Awaitable[Any]]) -> None:
        self._perform = perform

    def __getattr__(self, method: str) -> Any:
        async def call(*arguments: Any, **named: Any) -> Any:
            return await self._perform(method, arguments, named)

        return call


class CountedObjects(MemoryObjects):
    """A bucket in memory that counts how many times it stored anything."""

    stored = 0

    async def put(self, key: str, content: bytes, **about: Any) -> str:
        version = await super().put(key, content, **about)
        self.stored += 1
        return version


def build_keeping(
    files: Files, quotas: FileQuotas, timers: KeptTimers, scanner: ReplyScanner, clock: ClockPort
) -> tuple[Mapping[str, CallHook], ResultFiles]:
    """Return the hooks of calls, and what keeps long results, as the orchestrator of a deployment with a bucket has them."""
    room = FileRoom(files=files, quotas=quotas, clock=clock)
    results = KeptFiles(room=room, timers=timers, period=PERIOD)
    return {FILES: FileHook(room=room), "web": WebHook(True)}, ResultFiles(files=results, scanner=scanner)


async def collect(execution: Execution, files: WorkspaceFiles, quotas: FileQuotas, clock: Clock, *, stored: int) -> StoredFiles:
    """Collect what is in the bucket, which has `stored` so often, and in the quota, now and after a write a day later.

    That write looks after those whose executions are over, as any does.
    """
    workspace = execution.workspace
    entries = (await files.list(workspace, "")).entries
    contents = {entry.key: (await files.read(workspace, entry.key)).content for entry in entries}
    quota = await quotas.get(workspace)
    clock.turn(SETTLED_LIFETIME + timedelta(seconds=1))
    room = FileRoom(files=files, quotas=quotas, clock=clock)
    await room.reserve(replace(execution, policy=build_policy(plan=PRO)), "later", 1, "later")
    later = await quotas.close(workspace, "later", ())
    return StoredFiles(contents=contents, stored=stored, quota=quota, later=later)
