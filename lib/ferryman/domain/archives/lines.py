"""Lines: the JSON objects in the files of an archive, one on each line, in the canonical form of receipts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ferryman.domain.json_tree import find_fault, is_too_deep, walk
from ferryman.domain.receipts.receipt import canonicalize

LINE_BYTES_MAX = 8_388_608
"""Of one line: a stored document has 1 MiB at most, and a character of it takes up to six bytes here."""

FILE_BYTES = 524_288
"""A file ends with the line by which it has so many bytes."""

FILE_BYTES_MAX = FILE_BYTES + LINE_BYTES_MAX
DEPTH_MAX = 100
_ESCAPED_SURROGATE = b"\\ud"


class ArchiveError(ValueError):
    """The archive is refused; `entry` is the file in it, with the line from 1 where one is wrong."""

    def __init__(self, entry: str, message: str) -> None:
        super().__init__(f"{entry}: {message}")
        self.entry = entry
        self.message = message


def write_line(value: dict[str, Any]) -> bytes:
    """Return `value` as a line. Raise ValueError for one that is too long, or has a number that is not finite."""
    line = canonicalize(value) + b"\n"
    if len(line) > LINE_BYTES_MAX:
        raise ValueError(f"a line has {len(line)} bytes, and at most {LINE_BYTES_MAX} may be")
    return line


def is_readable(value: dict[str, Any]) -> bool:
    """Tell whether `read_lines` reads the line of `value`: it has no half character, is not too deep, long, or no JSON."""
    try:
        return _read_object("", write_line(value)) is not None
    except (ValueError, RecursionError):
        return False


def split_lines(name: str, data: bytes) -> list[bytes]:
    """Return the lines of the file `name`, each with its end. Raise `ArchiveError` where it does not consist of lines."""
    if len(data) > FILE_BYTES_MAX:
        raise ArchiveError(name, f"has {len(data)} bytes, and at most {FILE_BYTES_MAX} may be in a file")
    if not data.endswith(b"\n"):
        raise ArchiveError(name, "does not end with the end of a line")
    return [line + b"\n" for line in data[:-1].split(b"\n")]


def read_lines(name: str, data: bytes) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the objects in the file `name`, each with its place in words. Raise `ArchiveError` at the first that is none.

    A line must be as `write_line` writes it, so that there is one way to write an object: no member twice, no other order.
    """
    for number, line in enumerate(split_lines(name, data), 1):
        place = f"{name} line {number}"
        if len(line) > LINE_BYTES_MAX:
            raise ArchiveError(place, f"has {len(line)} bytes, and at most {LINE_BYTES_MAX} may be")
        yield place, _read_object(place, line)


def _read_object(place: str, line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        reason = "is nested too deep" if isinstance(error, RecursionError) else "is no JSON"
        raise ArchiveError(place, reason) from None
    if not isinstance(value, dict):
        raise ArchiveError(place, "is no JSON object")
    if is_too_deep(value, DEPTH_MAX):
        raise ArchiveError(place, f"is nested more than {DEPTH_MAX} deep")
    if _ESCAPED_SURROGATE in line and any(isinstance(inner, dict | str) and find_fault(inner) for _, inner in walk(value)):
        raise ArchiveError(place, "must be valid Unicode")
    try:
        same = canonicalize(value) + b"\n" == line
    except ValueError:
        same = False
    if not same:
        raise ArchiveError(place, "is not written as canonical JSON: names sorted and each once, no spaces, ASCII")
    return value
