"""The function `files` without HTTP: its tools, and the files of workspaces in a bucket."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from ferryman.composition.files import TOOLS
from ferryman.domain.calls.call import ToolCall
from ferryman.domain.calls.keyless_answer import KeylessAnswer, read_answer
from ferryman.domain.labels.label import Integrity
from ferryman.tools.files.answering import answer_call
from ferryman.tools.files.file_call import FileCall
from ferryman.tools.files.workspace_files import WorkspaceFiles

assert "file_read" in TOOLS, "the tools are registered where they are imported"


async def ask_files(files: WorkspaceFiles, body: Mapping[str, Any]) -> KeylessAnswer:
    """Return what the function answers to a call of one of its tools."""
    known = {name: body[name] for name in ("workspace", "write", "is_done")}
    call = FileCall(files=files, integrity=Integrity(body["integrity"]), **known)
    tool_call = ToolCall(id=body["call"], name=body["tool"], arguments=body["arguments"])
    return read_answer(await answer_call(call, tool_call, UUID(body["user"]), within_s=body["within_s"]))
