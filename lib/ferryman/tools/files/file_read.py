"""The tool `file_read`: a file of the workspace as text, or in base64 (S4-51 … S4-60)."""

from __future__ import annotations

import base64
from typing import Any

from ferryman.domain.calls.call import TRUNCATED
from ferryman.domain.files.texts import TEXT_BYTES_MAX, is_text_type, show_text
from ferryman.tools.files.file_call import FileCall, explain, quote, read_key, refuse, write_answer
from ferryman.tools.local_function.registry import register

BINARY_BYTES_MAX = 22_500
"""Of a file that is told in base64: 30,000 characters. A longer one is described, since a part of it is of no use (S4-60)."""


async def file_read(*, key: str, db: FileCall, offset: int = 0, **_: Any) -> str:
    """Return the file as JSON: `key`, `content`, `content_type`, `encoding` and `size_bytes` (S4-53 … S4-57).

    A text that is longer than what is shown ends with how to read on, and `next_offset` says where. What is no text, by its
    type or because it is no UTF-8, is in base64, or described by a `note` where it is too long. Raise `LocalFunctionError`.
    """
    if offset < 0 or offset != offset // 1:
        raise refuse("offset", "must be a number of bytes, 0 or more")
    cleaned = read_key(key)
    part = await explain(db.files.read(db.workspace, cleaned, start=int(offset), size=TEXT_BYTES_MAX), cleaned)
    db.read = await db.files.read_integrity(db.workspace, cleaned, version=part.version)
    about = {"content_type": part.content_type, "encoding": "text", "size_bytes": part.size_bytes}
    text = show_text(part.content, part.start, part.size_bytes) if is_text_type(part.content_type) else None
    if text is not None and text.is_all:
        return write_answer({"key": cleaned, "content": text.text, **about})
    if text is not None:
        how = f'{TRUNCATED} To read on: file_read {{"key": {quote(cleaned)}, "offset": {text.next_offset}}}'
        return write_answer({"key": cleaned, "content": f"{text.text}\n{how}", **about, "next_offset": text.next_offset})
    about["encoding"] = "base64"
    if part.start == 0 and part.size_bytes <= BINARY_BYTES_MAX:
        return write_answer({"key": cleaned, "content": base64.b64encode(part.content).decode(), **about})
    note = f"not shown: it is no text, and only files of at most {BINARY_BYTES_MAX:,} bytes are shown in base64, as a whole"
    return write_answer({"key": cleaned, "content": "", **about, "note": note})


register("file_read", file_read)
