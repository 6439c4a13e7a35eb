"""What headers of MCP repeat of a message (2026-07-28): for the client that writes them, and for the server that compares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

NAMED_BY = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "tasks/get": "taskId",
    "tasks/update": "taskId",
    "tasks/cancel": "taskId",
}
"""The parameter that `Mcp-Name` repeats, by method."""

ANNOTATION = "x-mcp-header"
"""The keyword of a tool's input schema with the name of the header, after `Mcp-Param-`, that repeats an argument."""

BASE64_OPENING, BASE64_CLOSING = "=?base64?", "?="
"""The beginning and the end of a value that is Base64 of UTF-8."""


def find_annotations(schema: Any) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each annotation in a tool's input schema, and the names of the properties that lead to its argument."""
    stack: list[tuple[tuple[str, ...], Any]] = [((), schema)]
    while stack:
        path, inner = stack.pop()
        if not isinstance(inner, Mapping):
            continue
        name = inner.get(ANNOTATION)
        if path and isinstance(name, str):
            yield name, path
        properties = inner.get("properties")
        if isinstance(properties, Mapping):
            stack.extend(((*path, key), value) for key, value in properties.items())


def get_argument(arguments: Any, path: tuple[str, ...]) -> Any:
    """Return the argument at `path`, None where there is none."""
    value = arguments
    for step in path:
        value = value.get(step) if isinstance(value, Mapping) else None
    return value
