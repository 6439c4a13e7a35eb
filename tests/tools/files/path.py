"""The whole path of a call of files: the orchestrator's side with its quota, and the function's with its bucket."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

from ferryman.composition.files import TOOLS
from ferryman.domain.calls.call import ToolCall
from ferryman.domain.calls.keyless_answer import KeylessAnswer, read_answer
from ferryman.domain.files.writes import write_rows
from ferryman.inmemory.clock import ManualClock
from ferryman.inmemory.queue import MemoryKeptTimers
from ferryman.ports.clock import Clock
from ferryman.ports.file_quotas import FileQuotas
from ferryman.ports.model import ReplyScanner
from ferryman.ports.objects import Objects
from ferryman.ports.tickets import Tickets
from ferryman.tools.files.file_call import FileCall
from ferryman.tools.files.hook import FileHook
from ferryman.tools.files.workspace_files import WorkspaceFiles
from ferryman.tools.keyless.calling import KeylessCalls
from ferryman.tools.keyless.keeping import ResultFiles
from ferryman.tools.keyless.room import FileRoom
from ferryman.tools.local_function.execute import answer

assert "file_read" in TOOLS, "the tools are registered where they are imported"


@dataclass
class FilePath:
    """Calls of files, between `tickets` and `objects`. `lost` answers do not come back, though their calls are executed."""

    tickets: Tickets
    quotas: FileQuotas
    objects: Objects
    scanner: ReplyScanner
    clock: Clock = field(default_factory=ManualClock)
    lost: list[Exception] = field(default_factory=list)
    count: int = 0

    def __post_init__(self) -> None:
        self.files = WorkspaceFiles(self.objects)
        room = FileRoom(files=self.files, quotas=self.quotas, clock=self.clock)
        self.calls = KeylessCalls(
            tickets=self.tickets,
            scanner=self.scanner,
            clock=self.clock,
            ask=self.ask,
            hooks={"files": FileHook(room=room)},
            results=ResultFiles(room=room, scanner=self.scanner, timers=MemoryKeptTimers()),
        )

    async def ask(self, function: str, body: Mapping[str, Any]) -> KeylessAnswer:
        """Execute a call as the function does, and lose its answer where that is planned."""
        assert function == "files"
        self.count += 1
        call = FileCall(files=self.files, workspace=body["workspace"], write=body["write"], is_done=body["is_done"])
        tool_call = ToolCall(id=body["call"], name=body["tool"], arguments=body["arguments"])
        answered = await answer(tool_call, UUID(body["user"]), call, within_s=body["within_s"])
        if self.lost:
            raise self.lost.pop()
        writes = write_rows(() if call.done is None else call.done.writes)
        return read_answer({"content": answered.content, "code": answered.code, "about": {"writes": writes}})


class NoSecrets:
    """A scanner that finds none."""

    async def scan(self, _: Any, content: Sequence[Any]) -> Sequence[Any]:
        return content


DAY = timedelta(days=1)
