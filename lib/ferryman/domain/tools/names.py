"""Names of tools: those of the platform's own server have a prefix, and a list of tools may write them with or without it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from ferryman.domain.problem import Problem

LISTED_MAX = 200
"""The names in one list of tools."""

PREFIX = "orchestrator__"
"""The prefix of the tools of the platform's own server. No declared tool has it."""


_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)


def is_tool_name(name: str) -> bool:
    """Tell whether a tool may have this name."""
    return _NAME.fullmatch(name) is not None


def strip_prefix(name: str) -> str:
    """Return the name without the prefix: two names are the same tool's exactly where this is the same (S4-95)."""
    return name.removeprefix(PREFIX)


def has_prefix(name: str) -> bool:
    """Tell whether `name` begins with the prefix, in whatever case: no declared tool may look like one of the platform's."""
    return name[: len(PREFIX)].lower() == PREFIX


def names_tool(names: Collection[str], tool: str) -> bool:
    """Tell whether `tool` is among `names`, each with or without the prefix."""
    stripped = strip_prefix(tool)
    return stripped in names or PREFIX + stripped in names


def find_list_problems(field: str, names: Sequence[str]) -> Iterator[Problem]:
    """Yield the problems of a list of tools: any name may be a declared tool's, so that only its form can be wrong."""
    if len(names) > LISTED_MAX:
        yield Problem(field, f"must be at most {LISTED_MAX} names of tools, are {len(names)}")
        return
    stripped = set[str]()
    for index, name in enumerate(names):
        if not is_tool_name(name):
            yield Problem(f"{field}.{index}", "must be the name of a tool: 1 to 64 letters, digits, _ and -")
        elif strip_prefix(name) in stripped:
            yield Problem(f"{field}.{index}", "is listed twice")
        stripped.add(strip_prefix(name))
