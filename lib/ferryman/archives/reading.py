"""Reading an archive that anybody may have made: each file is bounded before it is read, and nothing is written anywhere."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable, Iterator
from typing import IO

from ferryman.archives.unpacking import WHOLE, Unpacking
from ferryman.domain.archives.files import ArchiveFile, check_names, measure_file
from ferryman.domain.archives.lines import FILE_BYTES_MAX, ArchiveError
from ferryman.domain.archives.manifest import FILES_MAX, MANIFEST, MANIFEST_BYTES_MAX, Manifest, parse_manifest


def _count_nothing(_: int) -> None:
    pass


def read_archive(file: IO[bytes], *, count: Callable[[int], None] = _count_nothing) -> Manifest:
    """Return the manifest of the archive in `file`, of which every file is as it says. Raise `ArchiveError`.

    `count` hears how many compressed bytes were read so far.
    """
    reading = iterate_files(file, count=count)
    read: list[ArchiveFile] = []
    for name, data in reading:
        if name == MANIFEST:
            manifest = _read_manifest(data)
            _compare(manifest, read)
            return manifest
        read.append(measure_file(name, data))
    raise ArchiveError(MANIFEST, "is missing: the archive was cut short")


def iterate_files(file: IO[bytes], *, count: Callable[[int], None] = _count_nothing) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of each file in order, the manifest last, after which there is nothing. Raise `ArchiveError`."""
    unpacking = Unpacking(file, count)
    entries = _iterate_entries(unpacking)
    names: list[str] = []
    pending: list[bytes] = []

    def iterate_names() -> Iterator[str]:
        for name, data in entries:
            if name == MANIFEST:
                pending.append(data)
                return
            pending.append(data)
            names.append(name)
            yield name

    for name in check_names(iterate_names()):
        if len(names) > FILES_MAX:
            raise ArchiveError(name, f"is one file too many: an archive has at most {FILES_MAX}")
        yield name, pending.pop()
    if not pending:
        raise ArchiveError(MANIFEST, "is missing: the archive was cut short")
    unpacking.expect_end()
    yield MANIFEST, pending.pop()


def _iterate_entries(unpacking: Unpacking) -> Iterator[tuple[str, bytes]]:
    while (block := unpacking.read(tarfile.BLOCKSIZE)) != bytes(tarfile.BLOCKSIZE):
        try:
            header = tarfile.TarInfo.frombuf(block, "ascii", "strict")
        except (tarfile.HeaderError, ValueError):
            raise ArchiveError(WHOLE, "is no tar of files: a header cannot be read") from None
        name, size = header.name[:80], header.size
        if header.type != tarfile.REGTYPE or header.linkname or header.name != name:
            raise ArchiveError(name, "is no plain file: links, folders, devices and long names are refused")
        most = MANIFEST_BYTES_MAX if name == MANIFEST else FILE_BYTES_MAX
        if not 0 < size <= most:
            raise ArchiveError(name, f"has {size} bytes; a file has at least one and at most {most}")
        data = unpacking.read(size)
        if unpacking.read(-size % tarfile.BLOCKSIZE).strip(b"\0"):
            raise ArchiveError(name, "is followed by something else than zeros")
        yield name, data
        if name == MANIFEST:
            return


def _read_manifest(data: bytes) -> Manifest:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise ArchiveError(MANIFEST, "is no JSON") from None
    return parse_manifest(value)


def _compare(manifest: Manifest, read: list[ArchiveFile]) -> None:
    """Raise `ArchiveError` at the first file that is not as the manifest says."""
    for expected, actual in zip(manifest.files, read, strict=False):
        if expected != actual:
            raise ArchiveError(expected.name, f"is not as {MANIFEST} says: its name, its size or its SHA-256 is another")
    if len(manifest.files) != len(read):
        raise ArchiveError(MANIFEST, f"names {len(manifest.files)} files, and there are {len(read)}")
