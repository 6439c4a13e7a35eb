"""Unpacking an archive: the bytes in a gzip file, as many at a time as are asked for, so that memory is bounded."""

from __future__ import annotations

import tarfile
import zlib
from collections.abc import Callable
from typing import IO

from ferryman.domain.archives.lines import ArchiveError
from ferryman.domain.archives.manifest import MANIFEST

WHOLE = "the archive"
"""What an error names where it is about no single file."""

_READ = 65_536
_END_BYTES_MAX = 40 * tarfile.BLOCKSIZE
"""Zeros at the end: two blocks, and as many as fill the last record of a tar."""


class Unpacking:
    """The bytes in a gzip file, as many at a time as are asked for."""

    def __init__(self, file: IO[bytes], count: Callable[[int], None]) -> None:
        self._file = file
        self._count = count
        self._gzip = zlib.decompressobj(31)
        self._done = 0

    def read(self, size: int) -> bytes:
        """Return the next `size` bytes. Raise `ArchiveError` where there are fewer."""
        parts = []
        while size > 0:
            part = self._read_some(size)
            if not part:
                raise ArchiveError(WHOLE, "was cut short")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def expect_end(self) -> None:
        """Raise `ArchiveError` unless nothing but zeros follows, and not many."""
        following = 0
        while part := self._read_some(tarfile.BLOCKSIZE):
            following += len(part)
            if part.strip(b"\0") or following > _END_BYTES_MAX:
                raise ArchiveError(WHOLE, f"does not end after {MANIFEST}")
        if not following or self._gzip.unused_data or self._file.read(1) or not self._gzip.eof:
            raise ArchiveError(WHOLE, f"does not end after {MANIFEST}, or was cut short there")

    def _read_some(self, most: int) -> bytes:
        while not self._gzip.eof:
            compressed = self._gzip.unconsumed_tail
            if not compressed:
                compressed = self._file.read(_READ)
                self._done += len(compressed)
                self._count(self._done)
            try:
                part = self._gzip.decompress(compressed, most)
            except zlib.error:
                raise ArchiveError(WHOLE, "is not compressed with gzip, or was changed") from None
            if part:
                return part
            if not compressed and not self._gzip.eof:
                raise ArchiveError(WHOLE, "was cut short")
        return b""
