"""Conditions: preconditions of the JSON API on generations, of HTTP on entity tags, and ranges of bytes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from emulator.objects.errors import failed_condition, invalid, missing_object, not_modified, unsupported, wrong_range
from emulator.objects.values import StoredObject

NUMBER = re.compile(r"[0-9]{1,19}", re.ASCII)
RANGE = re.compile(r"bytes=(?:(\d{1,19})-(\d{0,19})|-(\d{1,19}))", re.ASCII)
DATED = ("if-modified-since", "if-unmodified-since")
CONDITIONS: Mapping[str, tuple[Callable[[StoredObject], int], bool]] = {
    "GenerationMatch": (lambda stored: stored.generation, True),
    "GenerationNotMatch": (lambda stored: stored.generation, False),
    "MetagenerationMatch": (lambda stored: stored.metageneration, True),
    "MetagenerationNotMatch": (lambda stored: stored.metageneration, False),
}


def read_conditions(query: Mapping[str, str]) -> dict[str, int]:
    """Return the conditions that a request of the JSON API names, by their names in `CONDITIONS`; raise StorageError."""
    return {name: parse_number(f"if{name}", query[f"if{name}"]) for name in CONDITIONS if query.get(f"if{name}") is not None}


def read_header_conditions(headers: Mapping[str, str]) -> dict[str, int]:
    """Return the conditions in the headers of the XML API."""
    named = {name: "x-goog-if-" + re.sub("(?<!^)([A-Z])", r"-\1", name).lower() for name in CONDITIONS}
    return {name: parse_number(header, headers[header]) for name, header in named.items() if header in headers}


def parse_number(name: str, text: str) -> int:
    """Return a generation and the like; raise StorageError, which names the parameter."""
    if not NUMBER.fullmatch(text):
        raise invalid(f"Invalid value for {name}: it is a number.")
    return int(text)


def check_conditions(stored: StoredObject | None, conditions: Mapping[str, int], *, reads: bool) -> None:
    """Raise StorageError unless every condition is met; generation 0 is that of an object that is not there.

    A read that asks for another one than the caller has is answered that it is the same.
    """
    for name, number in conditions.items():
        get, matches = CONDITIONS[name]
        current = get(stored) if stored else 0
        if (current == number) != matches:
            raise failed_condition() if matches or not reads else not_modified()


def check_etags(stored: StoredObject | None, headers: Mapping[str, str], *, reads: bool, names: tuple[str, str]) -> None:
    """Raise StorageError unless If-Match and If-None-Match are met; `names` are the bucket's and the object's."""
    if dated := [name for name in DATED if name in headers]:
        raise unsupported(f"The header {dated[0]}")
    if (expected := headers.get("if-match")) is not None:
        if stored is None:
            raise missing_object(*names)
        if not _matches(stored, expected):
            raise failed_condition()
    if (known := headers.get("if-none-match")) is not None:
        if not reads and known.strip() != "*":
            raise unsupported("If-None-Match with anything but * on a write")
        if stored is not None and _matches(stored, known):
            raise not_modified() if reads else failed_condition()


def _matches(stored: StoredObject, header: str) -> bool:
    tags = {tag.strip().removeprefix("W/").strip('"') for tag in header.split(",")}
    return "*" in tags or stored.etag in tags


def read_range(header: str | None, size: int) -> tuple[int, int] | None:
    """Return from which byte up to which a Range header asks, None for the whole: several ranges, or no range of bytes, are
    left out of account, as in production. Raise StorageError for one that the object has no byte of."""
    match = RANGE.fullmatch(header.strip()) if header else None
    if match is None:
        return None
    first, last, suffix = match.groups()
    if suffix is not None:
        start, end = max(size - int(suffix), 0), size
        if not int(suffix):
            raise wrong_range(size)
    else:
        start, end = int(first), min(int(last) + 1, size) if last else size
        if last and int(last) < int(first):
            return None
    if start >= size:
        raise wrong_range(size)
    return start, end
