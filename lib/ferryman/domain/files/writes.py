"""Writes of files: which of them made the object that is stored, so that a write that is delivered twice happens once.

An object's metadata names the write that stored it and those before it, with the sizes that each found and left. A delivery
that finds its own write there stores nothing, and answers the same. One that stores over a write that nobody has settled yet
settles it as well: so the quota is exact although the writer before died.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ferryman.domain.files.object import METADATA_BYTES_MAX, PUT_BYTES_MAX, Object
from ferryman.domain.labels.label import Integrity

FILE_BYTES_MAX = 30 * 1024 * 1024
"""Of one file: a request to Cloud Run has 32 MiB, its headers included."""

READ_BYTES_MAX = 4 * 1024 * 1024
"""Of a file that one read returns."""

DELETED_TYPE = "application/vnd.ferryman.deleted"
"""The content type of what is in a deleted file's place until its bytes are settled. No file has it."""

DELETED_BYTES = 77
"""Of that object. An entry of another size is a file's."""

WRITES = "writes"
REPLACED = "replaced"
INTEGRITY = "integrity"
"""Names of metadata: the writes, how many occurrences of a text an edit has replaced, and the label of the content."""

_NAME = re.compile("[A-Za-z0-9][A-Za-z0-9_.-]{0,95}", re.ASCII)
_WRITTEN = re.compile(r"([A-Za-z0-9][A-Za-z0-9_.-]{0,95}):(\d{1,10}):(\d{1,10})", re.ASCII)
_ROOM = METADATA_BYTES_MAX - 256
"""Of the metadata: the rest is for names and for what else is there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredWrite:
    """One write: its name, and how many bytes the workspace kept under the key before and after it."""

    name: str
    old_bytes: int
    new_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FileWrite:
    """What a write did. `writes` are to be settled: its own first, then those before it, from the latest on.

    `version` is that of the object it stored, empty where another has been stored over it since. `replaced` is of an edit.
    """

    key: str
    version: str
    writes: tuple[StoredWrite, ...]
    replaced: int | None = field(default=None)

    @property
    def is_new(self) -> bool:
        """Whether there was no such file, or an empty one."""
        return not self.writes or self.writes[0].old_bytes == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedWrite:
    """A write whose outcome is known: `writes` as in `FileWrite`, empty where it stored nothing."""

    name: str
    writes: tuple[StoredWrite, ...] = ()


def check_write(name: str) -> None:
    """Raise ValueError for what names no write."""
    if _NAME.fullmatch(name) is None:
        raise ValueError("a write is named by 1 to 96 letters, digits, _, . and -, the first of them no sign")


def name_call(execution: str, seq: int) -> str:
    """Return the name of the write that a call of an execution makes: the same whenever it is delivered."""
    return f"{execution}.{seq}"


def build_deleted(name: str) -> bytes:
    """Return what a deletion of this name stores: another content for each, and so another version on every service."""
    return f"deleted by {hashlib.sha256(name.encode()).hexdigest()}\n".rjust(DELETED_BYTES).encode()


def is_deleted(stored: Object | None) -> bool:
    """Tell whether there is no file: nothing is stored, or what is left of a deleted one."""
    return stored is None or stored.content_type == DELETED_TYPE


def read_writes(stored: Object | None) -> tuple[StoredWrite, ...]:
    """Return the writes that an object's metadata names, the latest first; none for what somebody else stored."""
    text = "" if stored is None else stored.metadata.get(WRITES, "")
    parts = [_WRITTEN.fullmatch(part) for part in text.split(" ")]
    named = [StoredWrite(name=part[1], old_bytes=int(part[2]), new_bytes=int(part[3])) for part in parts if part is not None]
    sizes = (named[0].new_bytes,) if named else ()
    # the bytes are counted by what is stored, whoever wrote the metadata
    return tuple(named) if stored is not None and sizes == (count_bytes(stored),) else ()


def count_bytes(stored: Object | None) -> int:
    """Return the bytes that count in the quota: those of a file."""
    return 0 if stored is None or is_deleted(stored) else stored.size_bytes


def format_writes(
    writes: Sequence[StoredWrite], *, replaced: int | None = None, integrity: Integrity = Integrity.UNTRUSTED
) -> dict[str, str]:
    """Return the metadata that names as many of these writes as there is room for, the latest first, and the label."""
    parts, room = list[str](), _ROOM
    for write in writes:
        part = f"{write.name}:{write.old_bytes}:{write.new_bytes}"
        room -= len(part) + 1
        if room < 0:
            break
        parts.append(part)
    count = {} if replaced is None else {REPLACED: str(replaced)}
    return {WRITES: " ".join(parts), INTEGRITY: integrity.value, **count}


def read_integrity(stored: Object | None) -> Integrity:
    """Return the label of what is stored under a key; what has none, or was stored by somebody else, is untrusted."""
    is_ours = stored is not None and bool(read_writes(stored)) and not is_deleted(stored)
    is_trusted = is_ours and stored is not None and stored.metadata.get(INTEGRITY) == Integrity.TRUSTED
    return Integrity.TRUSTED if is_trusted else Integrity.UNTRUSTED


def find_write(stored: Object | None, key: str, name: str) -> FileWrite | None:
    """Return what the write of this name did to the file `key`, None where it has stored nothing that is known of."""
    writes = read_writes(stored)
    for number, write in enumerate(writes):
        if write.name == name:
            latest = number == 0 and stored is not None
            version, metadata = (stored.version, stored.metadata) if latest and stored is not None else ("", {})
            return FileWrite(key=key, version=version, writes=writes[number:], replaced=_read_count(metadata))
    return None


def _read_count(metadata: Mapping[str, str]) -> int | None:
    text = metadata.get(REPLACED, "")
    return int(text) if text.isdecimal() and len(text) < 10 else None


def write_rows(writes: Iterable[StoredWrite]) -> list[list[str | int]]:
    """Return writes as JSON: name, bytes before, bytes after."""
    return [[write.name, write.old_bytes, write.new_bytes] for write in writes]


def read_rows(rows: object) -> tuple[StoredWrite, ...]:
    """Return the writes that `write_rows` wrote; raise ValueError for anything else."""
    if not isinstance(rows, list):
        raise ValueError("writes are a list")
    return tuple(map(_read_row, rows))


def _read_row(row: object) -> StoredWrite:
    if not isinstance(row, list) or [type(part) for part in row] != [str, int, int]:
        raise ValueError("a write is a name and two sizes")
    name, old_bytes, new_bytes = row
    check_write(name)
    if not 0 <= min(old_bytes, new_bytes) <= max(old_bytes, new_bytes) <= PUT_BYTES_MAX:
        raise ValueError("a write has no such sizes")
    return StoredWrite(name=name, old_bytes=old_bytes, new_bytes=new_bytes)
