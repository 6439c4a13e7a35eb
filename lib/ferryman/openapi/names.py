"""Names: a document's names made to fit, each of them once."""

from __future__ import annotations

import re

CHARACTERS_MAX = 64
_READ_MAX = 256
_NOT_TOOL = re.compile(r"[^A-Za-z0-9_-]+", re.ASCII)
_NOT_ARGUMENT = re.compile(r"[^A-Za-z0-9_]+", re.ASCII)
_NOT_WORD = re.compile(r"[^A-Za-z0-9]+", re.ASCII)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])", re.ASCII)

SPOKEN_FOR = ("else", "env", "secrets")
"""What templates mean something else by."""


def tool(operation_id: str, method: str, path: str) -> str:
    """The name of an operation's tool: its operationId, or method and path in snake case (S3-51)."""
    if found := _fitting(_NOT_TOOL, operation_id):
        return found
    return _fitting(_NOT_WORD, _HUMP.sub("_", f"{method}_{path[:_READ_MAX]}")).lower()


def argument(wire: str, place: str, taken: dict[str, int]) -> str:
    """The name that the model says `wire` by, which stands in `place` (path, query, header or body)."""
    found = _fitting(_NOT_ARGUMENT, wire) or place
    if found in taken or found in SPOKEN_FOR:
        found = f"{place}_{found}"[:CHARACTERS_MAX]
    return unique(found, taken)


def unique(name: str, taken: dict[str, int]) -> str:
    """`name`, or the first of `name_2`, `name_3` … that is not taken; taken from now on.

    `taken` has for each name the last number that was tried with it, so that thousands of one name take no longer than others.
    """
    found, number = name, taken.get(name, 1)
    while found in taken:
        number += 1
        ending = f"_{number}"
        found = name[: CHARACTERS_MAX - len(ending)] + ending
    taken[name] = number
    taken.setdefault(found, 1)
    return found


def _fitting(other: re.Pattern[str], name: str) -> str:
    found = other.sub("_", name[:_READ_MAX]).strip("_-" if other is _NOT_TOOL else "_")
    if name.startswith("_") and found:
        found = f"_{found}"
    return (f"_{found}" if found[:1].isdigit() or found[:1] == "-" else found)[:CHARACTERS_MAX]
