"""Writing an archive: lines in, compressed bytes out; no more than one file is in memory."""

from __future__ import annotations

import tarfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ferryman.domain.archives.files import KINDS, LINES_MAX, ArchiveFile, measure_file, name_file
from ferryman.domain.archives.lines import FILE_BYTES, write_line
from ferryman.domain.archives.manifest import MANIFEST, Manifest
from ferryman.domain.receipts.receipt import canonicalize

LEVEL = 6
_GZIP = 31
"""zlib's window bits for gzip; the header has no name and no time, so that the same content has the same bytes."""

Values = Iterable[dict[str, Any]]


class ArchiveWriter:
    """Writes the files of an archive in the order of `KINDS`. Each method returns compressed bytes that follow the others."""

    def __init__(self) -> None:
        self._gzip = zlib.compressobj(LEVEL, zlib.DEFLATED, _GZIP)
        self._kind = KINDS[0]
        self._number = 0
        self._lines: list[bytes] = []
        self._size = 0
        self.files: list[ArchiveFile] = []

    def add(self, kind: str, build: Callable[..., Values], *arguments: Any) -> bytes:
        """Write what `build` returns as lines of files of this kind. It takes processor time: run it in a thread.

        Raise ValueError for a kind that comes before the last one in `KINDS`, and for a line as `write_line` does.
        """
        written = []
        if kind != self._kind:
            if KINDS.index(kind) < KINDS.index(self._kind):
                raise ValueError(f"{kind} comes before {self._kind} in an archive")
            written.append(self._end_file())
            self._kind, self._number = kind, 0
        for value in build(*arguments):
            line = write_line(value)
            self._lines.append(line)
            self._size += len(line)
            if self._size >= FILE_BYTES or len(self._lines) >= LINES_MAX.get(kind, FILE_BYTES):
                written.append(self._end_file())
        return b"".join(written)

    def end(self, about: Mapping[str, Any]) -> bytes:
        """Write the manifest, of which `about` are the members but `files`, and the end of the archive."""
        last = self._end_file()
        manifest = Manifest(**about, files=tuple(self.files))
        entry = self._write_entry(MANIFEST, canonicalize(manifest.to_json()) + b"\n")
        return last + entry + self._gzip.compress(bytes(2 * tarfile.BLOCKSIZE)) + self._gzip.flush()

    def _end_file(self) -> bytes:
        if not self._lines:
            return b""
        self._number += 1
        name, data = name_file(self._kind, self._number), b"".join(self._lines)
        self.files.append(measure_file(name, data))
        self._lines, self._size = [], 0
        return self._write_entry(name, data)

    def _write_entry(self, name: str, data: bytes) -> bytes:
        header = tarfile.TarInfo(name)
        header.size = len(data)
        padding = bytes(-len(data) % tarfile.BLOCKSIZE)
        return b"".join(map(self._gzip.compress, (header.tobuf(tarfile.USTAR_FORMAT), data, padding)))
