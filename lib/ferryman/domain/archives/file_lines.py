"""Files of a workspace in an archive: each as lines, its content part by part in base64, and its SHA-256 at its end.

A file is `file`, its `part`s and `end`. The digest comes last, since a file is written while it is read. One that is changed or
deleted meanwhile ends with `left_out` instead, which also names what was never begun; nothing of it is believed to be a file.
Every part but the last has `PART_BYTES`: there is one way to write a file, and as few parts as can be.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from ferryman.domain.archives.lines import ArchiveError
from ferryman.domain.copies import replace
from ferryman.domain.files.keys import clean_key
from ferryman.domain.files.object import Object, ObjectEntry, check_put
from ferryman.domain.files.writes import DELETED_TYPE, FILE_BYTES_MAX, READ_BYTES_MAX
from ferryman.domain.problem import InvalidInputError
from ferryman.domain.records.document import write_time
from ferryman.domain.workspaces.imports import OpenFile

FILES = "files"
"""The kind of the archive's files that these lines are in."""

PART_BYTES = READ_BYTES_MAX
"""Of a file's content in one line: as many as one read returns."""

_MEMBERS: Mapping[str, frozenset[str]] = {
    "file": frozenset(("kind", "key", "content_type", "size_bytes", "updated_at")),
    "part": frozenset(("kind", "content")),
    "end": frozenset(("kind", "key", "sha256")),
    "left_out": frozenset(("kind", "key", "reason")),
}
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
_NAME_CHARACTERS_MAX = 1_024
"""Of a key that no file has here, and that somebody else's tools made."""


class LeftOut(StrEnum):
    """Why a file is not in an archive: it was `changed` or deleted while it was read, it has more bytes than a file has, its
    key is not written as keys are, or its content type is none."""

    CHANGED = "changed"
    SIZE = "size"
    KEY = "key"
    CONTENT_TYPE = "content_type"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLine:
    """What a line tells of the file `key`: `before` is how far that was, `after` how far it is, None where there is none.

    `content` is a part's, also an empty file's first and only one; `sha256` is told at the end, `reason` where it is left out.
    """

    key: str
    before: OpenFile | None = None
    after: OpenFile | None = None
    content: bytes | None = field(default=None, repr=False)
    sha256: str | None = None
    reason: LeftOut | None = None


def find_reason(file: ObjectEntry) -> LeftOut | None:
    """Return why a file cannot be in an archive; None for one that can. Others than Ferryman may have stored it."""
    if not _is_clean(file.key):
        return LeftOut.KEY
    if file.size_bytes > FILE_BYTES_MAX:
        return LeftOut.SIZE
    return LeftOut.CONTENT_TYPE if isinstance(file, Object) and not _is_type(file.content_type) else None


def write_beginning(file: Object) -> Iterator[dict[str, Any]]:
    """Yield the first line of a file."""
    about = {"key": file.key, "content_type": file.content_type, "size_bytes": file.size_bytes}
    yield {"kind": "file", **about, "updated_at": write_time(file.updated_at)}


def write_part(content: bytes) -> Iterator[dict[str, Any]]:
    """Yield the line of a part of a file. It takes processor time: run it in a thread."""
    yield {"kind": "part", "content": base64.b64encode(content).decode()}


def write_end(key: str, sha256: str) -> Iterator[dict[str, Any]]:
    """Yield the last line of a file."""
    yield {"kind": "end", "key": key, "sha256": sha256}


def write_left_out(key: str, reason: LeftOut) -> Iterator[dict[str, Any]]:
    """Yield the line of a file that is not in the archive."""
    yield {"kind": "left_out", "key": key[:_NAME_CHARACTERS_MAX], "reason": reason.value}


def read_file_line(place: str, line: Mapping[str, Any], current: OpenFile | None) -> FileLine:
    """Return what a line tells, where `current` is the file before it. Raise `ArchiveError`.

    Files are in the order of their keys' bytes in UTF-8, so that each is there once.
    """
    kind = line.get("kind")
    if not isinstance(kind, str) or line.keys() != _MEMBERS.get(kind, frozenset()):
        raise ArchiveError(place, f"is no line of a file: {', '.join(_MEMBERS)}, each with its own members")
    is_open = current is not None and current.is_open
    if kind == "left_out":
        return _read_left_out(place, line, current)
    if is_open == (kind == "file"):
        raise ArchiveError(place, f"is a line of kind {kind} where none may be")
    if kind == "file":
        return _read_beginning(place, line, current)
    assert current is not None, "it is open"
    if kind == "part":
        return _read_part(place, line, current)
    if line["key"] != current.key:
        raise ArchiveError(place, "key: ends another file than the one before it")
    if current.done_bytes != current.size_bytes:
        raise ArchiveError(place, f"{current.key}: has {current.done_bytes} bytes, and {current.size_bytes} were told")
    sha256 = line["sha256"]
    if not isinstance(sha256, str) or _DIGEST.fullmatch(sha256) is None:
        raise ArchiveError(place, "sha256: is no SHA-256 in hex")
    return FileLine(key=current.key, before=current, after=replace(current, is_open=False), sha256=sha256)


def _read_left_out(place: str, line: Mapping[str, Any], current: OpenFile | None) -> FileLine:
    key, reason = line["key"], line["reason"]
    if not isinstance(key, str) or not 0 < len(key) <= _NAME_CHARACTERS_MAX or reason not in list(LeftOut):
        raise ArchiveError(place, f"must have a key, and a reason of {', '.join(LeftOut)}")
    if current is None or not current.is_open:
        return FileLine(key=key, before=current, after=current, reason=LeftOut(reason))
    if (key, reason) != (current.key, LeftOut.CHANGED):
        raise ArchiveError(place, f"{current.key}: has no end")
    return FileLine(key=key, before=current, after=replace(current, is_open=False), reason=LeftOut.CHANGED)


def _read_beginning(place: str, line: Mapping[str, Any], current: OpenFile | None) -> FileLine:
    key, size, content_type, updated_at = (line[name] for name in ("key", "size_bytes", "content_type", "updated_at"))
    if not isinstance(key, str) or not _is_clean(key):
        raise ArchiveError(place, "key: must be written as it is kept: in NFC, no empty parts, dots alone, or unseen signs")
    if current is not None and key.encode() <= current.key.encode():
        raise ArchiveError(place, f"{key}: is there twice, or not in the order of the keys' bytes")
    if type(size) is not int or not 0 <= size <= FILE_BYTES_MAX:
        raise ArchiveError(place, f"{key}: size_bytes must be 0 to {FILE_BYTES_MAX:,}")
    if not isinstance(content_type, str) or not _is_type(content_type):
        raise ArchiveError(place, f"{key}: content_type must be visible ASCII, and no mark of ours")
    if not isinstance(updated_at, str) or not _is_moment(updated_at):
        raise ArchiveError(place, f"{key}: updated_at is no moment")
    begun = OpenFile(key=key, content_type=content_type, size_bytes=size)
    return FileLine(key=key, before=begun, after=begun, content=None if size else b"")


def _read_part(place: str, line: Mapping[str, Any], current: OpenFile) -> FileLine:
    expected = min(PART_BYTES, current.size_bytes - current.done_bytes)
    try:
        content = base64.b64decode(line["content"], validate=True)
        is_same = base64.b64encode(content).decode() == line["content"]
    except (ValueError, TypeError):
        content, is_same = b"", False
    if not is_same:
        raise ArchiveError(place, f"{current.key}: content is no base64 (RFC 4648)")
    if not content or len(content) != expected:
        raise ArchiveError(place, f"{current.key}: this part has {len(content)} bytes, and must have {expected}")
    after = replace(current, done_bytes=current.done_bytes + len(content))
    return FileLine(key=current.key, before=current, after=after, content=content)


def _is_clean(key: str) -> bool:
    try:
        return clean_key(key) == key
    except InvalidInputError:
        return False


def _is_type(content_type: str) -> bool:
    try:
        check_put("key", b"", content_type, {})
    except ValueError:
        return False
    return content_type.partition(";")[0].strip().lower() != DELETED_TYPE


def _is_moment(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False
