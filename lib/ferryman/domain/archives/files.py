"""The files of an archive: their kinds, their names in their order, and how each is measured."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from ferryman.domain.archives.lines import ArchiveError

KINDS = (
    *("workspace", "agents", "tasks", "tools", "members", "audit", "alerts", "documents", "usage", "files"),
    *("conversations", "messages", "executions"),
)
"""The kinds of files, in their order: what refers to something comes after it."""

IMPORTED = ("workspace", "agents", "tasks", "tools", "files", "conversations", "messages", "executions")
"""The kinds that are imported. Others are verified and counted, and stay in the archive: nothing gives anybody a right."""

NOT_IMPORTED = tuple(kind for kind in KINDS if kind not in IMPORTED)

LINES_MAX = {"files": 300}
"""Lines of one file by kind, where it may not have as many as fit: an import reserves room for some hundred files at once."""

_NAME = re.compile(rf"({'|'.join(KINDS)})-([0-9]{{6}})\.jsonl", re.ASCII)


@dataclass(frozen=True, slots=True)
class ArchiveFile:
    """A file of an archive: its name, its lines, its bytes, and the SHA-256 of these in hex."""

    name: str
    lines: int
    bytes: int
    sha256: str

    @property
    def kind(self) -> str:
        """What its lines are."""
        return self.name.partition("-")[0]


def measure_file(name: str, data: bytes) -> ArchiveFile:
    """Return how a manifest names the file `name` with this content."""
    return ArchiveFile(name, data.count(b"\n"), len(data), hashlib.sha256(data).hexdigest())


def name_file(kind: str, number: int) -> str:
    """Return the name of a file, the `number`th of its kind from 1."""
    return f"{kind}-{number:06d}.jsonl"


def check_names(names: Iterator[str], *, before: str = "") -> Iterator[str]:
    """Yield `names` while they are those of files in their order. Raise `ArchiveError` at the first that is not.

    The first of them comes after the file `before`, if one is named.
    """
    earlier = _NAME.fullmatch(before)
    kind, number = (KINDS.index(earlier[1]), int(earlier[2])) if earlier else (0, 0)
    for name in names:
        match = _NAME.fullmatch(name)
        if match is None:
            raise ArchiveError(name[:80], "is no name of a file of an archive")
        is_next = (KINDS.index(match[1]), int(match[2])) == (kind, number + 1)
        if not is_next and (KINDS.index(match[1]) <= kind or int(match[2]) != 1):
            raise ArchiveError(name, "is not where it must be: a file is missing, there twice, or in another order")
        kind, number = KINDS.index(match[1]), int(match[2])
        yield name
