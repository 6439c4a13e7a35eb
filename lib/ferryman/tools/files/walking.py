"""Walking: the entries of a workspace's files in the order of their keys, from a position on, page by page of the bucket."""

from __future__ import annotations

from collections.abc import AsyncIterator

from ferryman.domain.files.object import ObjectEntry
from ferryman.tools.files.file_call import FileCall, explain
from ferryman.tools.files.position import SearchPosition

PAGE = 500
"""Entries of a page of the bucket."""


async def walk(call: FileCall, prefix: str, start: SearchPosition) -> AsyncIterator[tuple[SearchPosition, ObjectEntry]]:
    """Yield each entry with its own position: from there on, it comes first again. Raise `LocalFunctionError`."""
    page, skip = start.page, start.skip
    while True:
        entries = await explain(call.files.list(call.workspace, prefix, cursor=page, most=PAGE))
        for number, entry in enumerate(entries.entries[skip:], skip):
            yield SearchPosition(page=page, skip=number), entry
        page, skip = entries.cursor, 0
        if page is None:
            return
