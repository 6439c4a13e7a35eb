"""The tool `glob_search`: the files of the workspace whose keys match a pattern."""

from __future__ import annotations

import asyncio
from typing import Any

from ferryman.tools.files.file_call import FileCall, write_answer
from ferryman.tools.files.globs import Glob
from ferryman.tools.files.position import read_position
from ferryman.tools.files.walking import walk
from ferryman.tools.local_function.registry import register

KEYS_MAX = 200
"""Of an answer."""

CHARACTERS_MAX = 30_000
"""Of an answer, as JSON."""

ENTRIES_MAX = 10_000
"""Files whose keys one call compares."""


async def glob_search(*, pattern: str, cursor: str, db: FileCall, **_: Any) -> str:
    """Return `keys` as JSON, and a `cursor` where not all files were compared yet. Raise `LocalFunctionError`."""
    glob, keys, room, compared, after = Glob(pattern), list[str](), CHARACTERS_MAX, 0, None
    async for position, entry in walk(db, glob.prefix, read_position(cursor)):
        if compared == ENTRIES_MAX or len(keys) == KEYS_MAX or room < 0:
            after = position.format()
            break
        compared += 1
        if glob.matches(entry.key) if glob.is_quick else await asyncio.to_thread(glob.matches, entry.key):
            keys.append(entry.key)
            room -= len(write_answer({"": entry.key}))
    return write_answer({"keys": keys, "cursor": after})


register("glob_search", glob_search)
