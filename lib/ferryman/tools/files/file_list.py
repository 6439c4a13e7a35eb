"""The tool `file_list`: the files of the workspace, page by page."""

from __future__ import annotations

from typing import Any

from ferryman.tools.files.file_call import FileCall, write_answer
from ferryman.tools.files.position import read_position
from ferryman.tools.files.walking import walk
from ferryman.tools.local_function.registry import register

CHARACTERS_MAX = 30_000
"""Of an answer, as JSON."""


async def file_list(*, prefix: str, cursor: str, db: FileCall, **_: Any) -> str:
    """Return `files`, each with `key`, `size_bytes` and `updated_at`, and a `cursor` where there are more.

    Raise `LocalFunctionError`.
    """
    rows, room, after = list[dict[str, Any]](), CHARACTERS_MAX, None
    async for position, entry in walk(db, prefix, read_position(cursor)):
        updated = entry.updated_at.isoformat(timespec="seconds")
        row = {"key": entry.key, "size_bytes": entry.size_bytes, "updated_at": updated}
        room -= len(write_answer(row)) + 2
        if room < 0 and rows:
            after = position.format()
            break
        rows.append(row)
    return write_answer({"files": rows, "cursor": after})


register("file_list", file_list)
