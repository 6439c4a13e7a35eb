"""Files of a workspace in an archive, read as strangers' input: which parts are stored, and which contents are compared."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ferryman.domain.archives.file_lines import FileLine, read_file_line
from ferryman.domain.archives.files import LINES_MAX
from ferryman.domain.archives.lines import ArchiveError
from ferryman.domain.workspaces.imports import OpenFile
from ferryman.serving.archived_files import check_digest

FILE_LINES_MAX = LINES_MAX["files"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePart:
    """A part of the file `key`, from byte `start` on. `line` is its line's number from 1; `place` says it in words."""

    place: str
    line: int
    key: str
    content_type: str
    start: int
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanningFile:
    """A file that began in an earlier file of the archive and ends in this one: with `sha256`, or given up where that is ""."""

    place: str
    line: int
    key: str
    sha256: str


@dataclass(slots=True)
class ReadFiles:
    """What a file of the archive tells: parts to be stored, what ends of files that began before, how many ended, and the bytes
    of these; and the last file that began."""

    parts: list[FilePart] = field(default_factory=list)
    spanning: list[SpanningFile] = field(default_factory=list)
    count: int = 0
    size_bytes: int = 0
    file: OpenFile | None = None


def read_files(lines: Iterable[tuple[str, Mapping[str, Any]]], before: OpenFile | None) -> ReadFiles:
    """Return what the lines of a file tell, after the file `before`. Raise `ArchiveError`.

    A file that begins and ends here is compared with its SHA-256, so that nothing of a wrong one is stored.
    """
    read, digest = ReadFiles(file=before), hashlib.sha256()
    has_begun = False
    for number, (place, line) in enumerate(lines, 1):
        if number > FILE_LINES_MAX:
            raise ArchiveError(place, f"is one line too many: {FILE_LINES_MAX} of a workspace's files may be in one file")
        step = read_file_line(place, line, read.file)
        read.file = step.after
        if line["kind"] == "file":
            digest, has_begun = hashlib.sha256(), True
        if step.content is not None:
            digest.update(step.content)
            read.parts.append(_build_part(place, number, step))
        if step.sha256 is not None:
            assert step.after is not None, "a file ended"
            read.count, read.size_bytes = read.count + 1, read.size_bytes + step.after.size_bytes
            if has_begun:
                check_digest(place, step.key, step.sha256, digest.hexdigest())
            else:
                read.spanning.append(SpanningFile(place=place, line=number, key=step.key, sha256=step.sha256))
        if step.before is not None and step.before.is_open and step.reason is not None:
            read.parts = [part for part in read.parts if part.key != step.key]
            if not has_begun:
                read.spanning.append(SpanningFile(place=place, line=number, key=step.key, sha256=""))
    return read


def _build_part(place: str, number: int, step: FileLine) -> FilePart:
    assert step.before is not None, "a part is of a file that began"
    assert step.content is not None, "it is a part"
    start, content_type = step.before.done_bytes, step.before.content_type
    return FilePart(place=place, line=number, key=step.key, content_type=content_type, start=start, content=step.content)
