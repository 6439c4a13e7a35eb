"""The tool `file_edit`: a text in a file, replaced by another one, in the version that was read."""

from __future__ import annotations

import asyncio
from typing import Any

from ferryman.domain.calls.refusal import INVALID_ARGUMENTS
from ferryman.domain.files.growth import EDIT_BYTES_MAX
from ferryman.domain.files.object import Object
from ferryman.domain.files.writes import read_integrity
from ferryman.tools.files.file_call import FileCall, read_key, read_text, refuse, report_missing, write_answer
from ferryman.tools.files.workspace_files import NewContent
from ferryman.tools.local_function.execute import LocalFunctionError
from ferryman.tools.local_function.registry import register


async def file_edit(*, key: str, old_text: str, new_text: str, replace_all: bool, db: FileCall, **_: Any) -> str:
    """Return `key`, `replaced` and `size_bytes` as JSON; raise `LocalFunctionError`.

    `old_text` has to occur exactly once, or at all with `replace_all`. The file is stored only if nobody has written it since
    it was read; where somebody has, it is read and edited again.
    """
    cleaned, old, new = read_key(key), read_text("old_text", old_text), read_text("new_text", new_text)
    if not old:
        raise refuse("old_text", "must not be empty; file_write writes a whole file")
    if old == new:
        raise refuse("new_text", "must be another than old_text")

    async def make(stored: Object | None) -> NewContent:
        if stored is None:
            raise report_missing(cleaned)
        if stored.size_bytes > EDIT_BYTES_MAX:
            raise refuse("key", f"a file of at most {EDIT_BYTES_MAX:,} bytes can be edited, and this one has more")
        part = await db.files.read(db.workspace, cleaned, size=EDIT_BYTES_MAX, version=stored.version)
        content, count = await asyncio.to_thread(replace_text, part.content, old, new, every=replace_all)
        db.read = read_integrity(stored)
        integrity = db.label_content(stored)
        return NewContent(content=content, content_type=stored.content_type, replaced=count, integrity=integrity)

    done = await db.change(cleaned, make)
    return write_answer(
        {"key": cleaned, "replaced": done.replaced, "size_bytes": done.writes[0].new_bytes if done.writes else None}
    )


def replace_text(content: bytes, old: bytes, new: bytes, *, every: bool) -> tuple[bytes, int]:
    """Return the content with `old` replaced, and how often; raise `LocalFunctionError` unless that is what was asked."""
    count = content.count(old)
    if count == 0:
        raise LocalFunctionError("old_text: does not occur in the file; read it again", code=INVALID_ARGUMENTS)
    if count > 1 and not every:
        raise LocalFunctionError(
            f"old_text: occurs {count} times; give more of the text around it, or replace_all", code=INVALID_ARGUMENTS
        )
    if len(content) + count * (len(new) - len(old)) > EDIT_BYTES_MAX:
        raise LocalFunctionError(
            f"new_text: the file would be longer than the {EDIT_BYTES_MAX:,} bytes that can be edited", code=INVALID_ARGUMENTS
        )
    return content.replace(old, new), count


register("file_edit", file_edit)
