"""Tools: the definitions that the model reads; pure data that every process shares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

OWN_FUNCTION = frozenset(("api_call", "http_get", "http_post", "webhook"))
"""The tools that are functions of their own (S0-1)."""

HTTP_TOOL = "http_tool"
"""The function that executes the calls of all other tools: the declared ones, and those that manage them."""


def get_function(tool: str) -> str:
    """Return the function that executes the calls of `tool`."""
    return tool if tool in OWN_FUNCTION else HTTP_TOOL


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool's definition. `requires` names the service whose credential it needs (S0-105)."""

    name: str
    description: str
    schema: Mapping[str, Any]
    requires: str | None = None

    def to_definition(self) -> dict[str, Any]:
        """Return the tool in the Messages API's form: exactly name, description and input_schema (S0-11)."""
        return {"name": self.name, "description": self.description, "input_schema": dict(self.schema)}
