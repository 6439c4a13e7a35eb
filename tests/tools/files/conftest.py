"""Files of two workspaces in a bucket in memory, and the tools of files as their function runs them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from uuid import UUID

import pytest

from ferryman.composition.files import TOOLS
from ferryman.domain.calls.call import ToolCall
from ferryman.domain.labels.label import Integrity
from ferryman.inmemory.clock import ManualClock
from ferryman.inmemory.objects import MemoryObjects
from ferryman.tools.files.file_call import FileCall
from ferryman.tools.files.workspace_files import WorkspaceFiles
from ferryman.tools.local_function.execute import Answer, answer

assert "file_read" in TOOLS, "the tools are registered where they are imported"


@dataclass
class Desktop:
    """The tools as a model calls them in the workspace `w`. `done` is what the last call wrote, `read_label` that of what
    it read."""

    files: WorkspaceFiles
    numbers: Any = field(default_factory=count)
    done: Any = None
    integrity: Integrity = Integrity.UNTRUSTED
    read_label: Integrity = Integrity.UNTRUSTED

    async def ask(self, tool: str, *, workspace: str = "w", write: str = "", is_done: bool = False, **arguments: Any) -> Answer:
        """Call a tool with arguments of the present `integrity`, and return what it says."""
        name = write or f"exec_1.{next(self.numbers)}"
        call = FileCall(files=self.files, workspace=workspace, write=name, is_done=is_done, integrity=self.integrity)
        answered = await answer(ToolCall(id="c", name=tool, arguments=arguments), UUID(int=0), call)
        self.done, self.read_label = call.done, call.read
        return answered

    async def read(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool, and return its answer, which is no failure."""
        answered = await self.ask(tool, **arguments)
        assert answered.code is None, answered.content
        answer_object: dict[str, Any] = json.loads(answered.content)
        return answer_object

    async def put(self, key: str, content: bytes | str, content_type: str = "text/plain", workspace: str = "w") -> None:
        """Store a file as the API does."""
        encoded = content if isinstance(content, bytes) else content.encode()
        await self.files.write(workspace, key, encoded, content_type=content_type, write=f"put.{next(self.numbers)}")


@pytest.fixture
def tools() -> Desktop:
    return Desktop(WorkspaceFiles(MemoryObjects(ManualClock())))
