"""The answer of the function `files` to a call of one of its tools."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from ferryman.domain.calls.call import ToolCall
from ferryman.domain.files.writes import write_rows
from ferryman.ports.errors import UnavailableError
from ferryman.tools.files.file_call import FileCall
from ferryman.tools.local_function.execute import answer


async def answer_call(call: FileCall, tool_call: ToolCall, user: UUID, *, within_s: float) -> dict[str, Any]:
    """Execute a call in `within_s` seconds, and return `content`, `code` and `about`: the writes that are to be settled,
    and the label of what was read.

    Raise `UnavailableError` where nobody knows whether the file was stored: the model would be told that it was not, and its
    bytes would not be counted. Made again under its name, the call finds what it has stored.
    """
    answered = await answer(tool_call, user, call, within_s=within_s)
    if call.is_open:
        raise UnavailableError("nobody knows yet whether the file was stored")
    writes = write_rows(() if call.done is None else call.done.writes)
    return {"content": answered.content, "code": answered.code, "about": {"writes": writes, "read": call.read.value}}
