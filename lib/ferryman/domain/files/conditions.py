"""Conditions and ranges of requests for files, as HTTP writes them: entity tags (RFC 9110, 13) and one range of bytes (14)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ferryman.domain.problem import build_input_error

_TAG = re.compile(r'\s*(W/)?"([!#-~]{0,255})"\s*', re.ASCII)
_RANGE = re.compile(r"bytes=\s*([0-9]{0,15})-([0-9]{0,15})\s*", re.ASCII)
TAGS_MAX = 20


class RangeOutsideError(Exception):
    """The range begins after the end of the file (416)."""


@dataclass(frozen=True, slots=True)
class ByteRange:
    """A part of a file: its first byte, and the one after its last."""

    start: int
    end: int


def format_tag(version: str) -> str:
    """Return the entity tag of a version."""
    return f'"{version}"'


def read_tags(text: str, header: str) -> tuple[str, ...] | None:
    """Return the versions that a condition names, None for `*`, which is any. Raise `InvalidInputError` that names `header`.

    A weak tag means no version, since a file is compared byte by byte.
    """
    if text.strip() == "*":
        return None
    parts = [_TAG.fullmatch(part) for part in text.split(",")[: TAGS_MAX + 1]]
    if len(parts) > TAGS_MAX or not all(parts):
        raise build_input_error(header, f'must be *, or at most {TAGS_MAX} entity tags in double quotes, as "17"')
    return tuple(part[2] for part in parts if part is not None and not part[1])


def read_range(text: str | None, size_bytes: int) -> ByteRange | None:
    """Return the range that is asked for, None for all of the file: also for several ranges, and for other units.

    Raise `RangeOutsideError`.
    """
    match = None if text is None else _RANGE.fullmatch(text)
    if match is None or not (match[1] or match[2]):
        return None
    if not match[1]:
        start, end = max(0, size_bytes - int(match[2])), size_bytes
    else:
        start, end = int(match[1]), min(size_bytes, int(match[2]) + 1 if match[2] else size_bytes)
        if match[2] and int(match[2]) < start:
            return None
    if start >= end:
        raise RangeOutsideError
    return ByteRange(start, end)
