"""Names of tools: those of the platform's own server have a prefix, and a list of tools may write them with or without it."""

from __future__ import annotations

import re
from collections.abc import Collection

PREFIX = "orchestrator__"
"""The prefix of the tools of the platform's own server. No declared tool has it."""


_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)


def is_tool_name(name: str) -> bool:
    """Tell whether a tool may have this name."""
    return _NAME.fullmatch(name) is not None


def strip_prefix(name: str) -> str:
    """Return the name without the prefix: two names are the same tool's exactly where this is the same (S4-95)."""
    return name.removeprefix(PREFIX)


def names_tool(names: Collection[str], tool: str) -> bool:
    """Tell whether `tool` is among `names`, each with or without the prefix."""
    stripped = strip_prefix(tool)
    return stripped in names or PREFIX + stripped in names
