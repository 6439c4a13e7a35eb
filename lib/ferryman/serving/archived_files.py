"""Archived files: the lines of a workspace's files, read without trust, and each content compared with its SHA-256."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from ferryman.domain.archives.file_lines import FileLine, LeftOut, read_file_line
from ferryman.domain.archives.lines import ArchiveError
from ferryman.domain.archives.manifest import MANIFEST, Manifest
from ferryman.domain.counts import say_count
from ferryman.domain.workspaces.imports import OpenFile

_WHY = {
    LeftOut.CHANGED: "it was changed or deleted while it was read",
    LeftOut.SIZE: "it has more bytes than a file may have",
    LeftOut.KEY: "its key is not written as keys are kept",
    LeftOut.CONTENT_TYPE: "its content type is none",
}


class FileCheck:
    """The files of an archive, line by line. `tell` hears a sentence of each that was left out."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._current: OpenFile | None = None
        self._digest = hashlib.sha256()
        self._count = 0
        self._size_bytes = 0
        self._left_out = 0

    def read(self, place: str, line: Mapping[str, Any]) -> None:
        """Raise `ArchiveError` for a line that is none, and with the name of a file that has other bytes than it says."""
        read = read_file_line(place, line, self._current)
        self._current = read.after
        if line["kind"] == "file":
            self._digest = hashlib.sha256()
        self._digest.update(read.content or b"")
        if read.reason is not None:
            self._left_out += 1
            self._tell(describe_left_out(read))
        if read.sha256 is not None:
            check_digest(place, read.key, read.sha256, self._digest.hexdigest())
            assert read.after is not None, "a file ended"
            self._count += 1
            self._size_bytes += read.after.size_bytes

    def end(self, manifest: Manifest) -> None:
        """Raise `ArchiveError` where the manifest tells of other files; tell how many there are."""
        if self._current is not None and self._current.is_open:
            raise ArchiveError(MANIFEST, f"comes where file {self._current.key} has no end")
        counted = {"counts.files": self._count, "file_bytes": self._size_bytes, "files_left_out": self._left_out}
        named = (manifest.counts["files"], manifest.file_bytes or 0, manifest.files_left_out)
        for (name, count), expected in zip(counted.items(), named, strict=True):
            if count != expected:
                raise ArchiveError(MANIFEST, f"{name}: is {expected}, and the files have {count}")
        if self._count:
            sizes = f"{say_count(self._count, 'files')}, {say_count(self._size_bytes, 'bytes')}"
            self._tell(f"{sizes}: each with the SHA-256 that the archive tells of it.")


def describe_left_out(read: FileLine) -> str:
    """Return a sentence about a file that is not in an archive."""
    assert read.reason is not None, "it was left out"
    return f"{read.key}: NOT IN THE ARCHIVE: {_WHY[read.reason]}."


def check_digest(place: str, key: str, sha256: str, actual: str) -> None:
    """Raise `ArchiveError` where the bytes of a file are others than those that were exported."""
    if sha256 != actual:
        raise ArchiveError(place, f"file {key}: its bytes have another SHA-256 than its last line tells")
