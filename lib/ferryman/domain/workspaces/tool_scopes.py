"""Tool scopes of API keys: which tools of the catalog at /mcp a key may list and call, by name or by category."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from ferryman.domain.problem import Problem
from ferryman.domain.tools.names import is_tool_name, names_tool, strip_prefix

TOOL_SCOPES_MAX = 50
CATEGORY = "category:"
ABOUT = f"must be the name of a tool, or {CATEGORY} and a category of the catalog, as {CATEGORY}search"
_CATEGORY = re.compile(r"[a-z][a-z_]{0,31}", re.ASCII)


def covers_tool(scopes: Collection[str] | None, tool: str, category: str) -> bool:
    """Tell whether `scopes` cover the tool of this name and `category`; None covers every tool, and no scope none."""
    return scopes is None or f"{CATEGORY}{category}" in scopes or names_tool(scopes, tool)


def is_category(text: str) -> bool:
    """Tell whether a category of tools may have this name."""
    return _CATEGORY.fullmatch(text) is not None


def find_tool_scope_problems(field: str, scopes: Sequence[str]) -> Iterator[Problem]:
    """Yield the problems of a list of tool scopes: any name may be a declared tool's, so that only its form can be wrong."""
    if not 1 <= len(scopes) <= TOOL_SCOPES_MAX:
        yield Problem(field, f"must be 1 to {TOOL_SCOPES_MAX} names and categories of tools, are {len(scopes)}")
        return
    before = set[str]()
    for index, scope in enumerate(scopes):
        is_known = is_category(scope.removeprefix(CATEGORY)) if scope.startswith(CATEGORY) else is_tool_name(scope)
        if not is_known:
            yield Problem(f"{field}.{index}", ABOUT)
        elif strip_prefix(scope) in before:
            yield Problem(f"{field}.{index}", "is listed twice")
        before.add(strip_prefix(scope))
