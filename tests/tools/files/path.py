"""The whole path of a call of files: the orchestrator's side with its quota, and the function's with its bucket."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from ferryman.domain.calls.keyless_answer import KeylessAnswer
from ferryman.inmemory.clock import ManualClock
from ferryman.inmemory.queue import MemoryKeptTimers
from ferryman.ports.clock import Clock
from ferryman.ports.file_quotas import FileQuotas
from ferryman.ports.model import ReplyScanner
from ferryman.ports.objects import Objects
from ferryman.ports.tickets import Tickets
from ferryman.tools.files.hook import FileHook
from ferryman.tools.files.workspace_files import WorkspaceFiles
from ferryman.tools.keeping.room import FileRoom
from ferryman.tools.keeping.storing import KeptFiles
from ferryman.tools.keyless.calling import KeylessCalls
from ferryman.tools.keyless.keeping import ResultFiles
from tests.plain_files import ask_files


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
            results=ResultFiles(files=KeptFiles(room=room, timers=MemoryKeptTimers()), scanner=self.scanner),
        )

    async def ask(self, function: str, body: Mapping[str, Any]) -> KeylessAnswer:
        """Execute a call as the function does, and lose its answer where that is planned."""
        assert function == "files"
        self.count += 1
        answered = await ask_files(self.files, body)
        if self.lost:
            raise self.lost.pop()
        return answered


class NoSecrets:
    """A scanner that finds none."""

    async def scan(self, _: Any, content: Sequence[Any]) -> Sequence[Any]:
        return content


DAY = timedelta(days=1)
