"""The tool `file_write`: a file of the workspace, stored in the place of the one under its key (S4-61 … S4-67)."""

from __future__ import annotations

from typing import Any

from ferryman.domain.files.object import Object
from ferryman.tools.files.file_call import FileCall, read_key, read_text, refuse, write_answer
from ferryman.tools.files.workspace_files import NewContent
from ferryman.tools.local_function.registry import register


async def file_write(*, key: str, content: str, content_type: str, db: FileCall, **_: Any) -> str:
    """Return `key`, `content_type` and `size_bytes` as JSON. Raise `LocalFunctionError`, for a blank content too."""
    cleaned, encoded = read_key(key), read_text("content", content)
    if not content.strip():
        raise refuse("content", "must not be blank")

    async def make(stored: Object | None) -> NewContent:
        return NewContent(content=encoded, content_type=content_type, integrity=db.label_content(stored))

    await db.change(cleaned, make)
    return write_answer({"key": cleaned, "content_type": content_type, "size_bytes": len(encoded)})


register("file_write", file_write)
