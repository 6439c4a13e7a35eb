"""The registry of local functions: which there are by name, and their schemas as the model reads them (S2-24 … S2-27)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from ferryman.catalog.tools import LISTED, TOOLS
from ferryman.domain.tools.tool import build_definition

LocalFunction = Callable[..., Awaitable[str]]
"""A tool that is a function of this process. It takes the model's arguments by name, and `user_id` and `db` (S2-36, S2-49)."""

TOOL_REGISTRY: dict[str, LocalFunction] = {}
"""The functions by the name of their tool; filled when this package's tools are imported (S2-24, S2-25)."""

TOOL_SCHEMAS: list[dict[str, Any]] = []
"""Their definitions in the Messages API's form: exactly those of `TOOL_REGISTRY` (S2-26)."""


def register(name: str, function: LocalFunction, *, available: bool = True) -> None:
    """Add the tool of this name to both tables, unless it is not `available` here (S2-26); its schema is the catalog's.

    Raise ValueError where it is registered already (S2-51), or where the catalog has no such tool (S4-33).
    """
    if name in TOOL_REGISTRY:
        raise ValueError(f"local function {name!r} is registered twice")
    if name not in LISTED:
        raise ValueError(f"local function {name!r} has no entry in the catalog of tools")
    if available:
        tool = TOOLS[name]
        TOOL_REGISTRY[name] = function
        TOOL_SCHEMAS.append(build_definition(name, tool.description, tool.schema))
