"""Names: an operation's tool and its arguments, made valid and unique."""

from __future__ import annotations

import re

from ferryman.domain.tools.names import PREFIX, has_prefix

CHARACTERS_MAX = 64
_READ_MAX = 256
_NOT_TOOL = re.compile(r"[^A-Za-z0-9_-]+", re.ASCII)
_UNDERSCORES = re.compile("__+")
_NOT_ARGUMENT = re.compile(r"[^A-Za-z0-9_]+", re.ASCII)
_NOT_WORD = re.compile(r"[^A-Za-z0-9]+", re.ASCII)
_WORD_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])", re.ASCII)

RESERVED = ("else", "env", "secrets")
"""Names with another meaning in templates."""

Numbers = dict[str, int]
"""The names in use, each with the last number that was tried with it: thousands of one name take no longer than others."""


def build_tool_name(operation_id: str, method: str, path: str) -> str:
    """Return the name of an operation's tool: its operationId, or method and path in snake case (S3-51).

    The prefix of the platform's own tools is left out (S4-95), and of several `_` in a row one is left: tools of MCP servers
    have two.
    """
    name = _fit(_NOT_TOOL, operation_id)
    while has_prefix(name):
        name = _fit(_NOT_TOOL, name[len(PREFIX) :])
    if name:
        return _UNDERSCORES.sub("_", name)
    return _fit(_NOT_WORD, _WORD_BORDER.sub("_", f"{method}_{path[:_READ_MAX]}")).lower()


def build_argument_name(wire: str, place: str, numbers: Numbers) -> str:
    """Return the name of the argument for `wire`, a name in `place` (path, query, header or body)."""
    name = _fit(_NOT_ARGUMENT, wire) or place
    if name in numbers or name in RESERVED:
        name = f"{place}_{name}"[:CHARACTERS_MAX]
    return make_unique(name, numbers)


def make_unique(name: str, numbers: Numbers) -> str:
    """Return `name`, or the first of `name_2`, `name_3` … that is not in use, and add it to `numbers`."""
    unique, number = name, numbers.get(name, 1)
    while unique in numbers:
        number += 1
        ending = f"_{number}"
        unique = name[: CHARACTERS_MAX - len(ending)] + ending
    numbers[name] = number
    numbers.setdefault(unique, 1)
    return unique


def _fit(invalid: re.Pattern[str], name: str) -> str:
    valid = invalid.sub("_", name[:_READ_MAX]).strip("_-" if invalid is _NOT_TOOL else "_")
    if name.startswith("_") and valid:
        valid = f"_{valid}"
    return (f"_{valid}" if valid[:1].isdigit() or valid[:1] == "-" else valid)[:CHARACTERS_MAX]
