"""Argument validation of local functions: what is missing, or of another type, is told before the function is called.

The schemas are the catalog's own, of a few plain members: so the library of JSON Schema, which strangers' schemas are checked
with, stays out of a function that has no other use for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.tools.tool import Tool


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_TYPES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "string": (lambda value: isinstance(value, str), "a string"),
    "integer": (lambda value: _is_number(value) and value == value // 1, "an integer"),
    "number": (_is_number, "a number"),
    "boolean": (lambda value: isinstance(value, bool), "true or false"),
    "array": (lambda value: isinstance(value, list), "a list"),
    "object": (lambda value: isinstance(value, Mapping), "an object"),
}


def fit_arguments(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments with the defaults of the tool's schema filled in (S3-62).

    Raise `CallRefusedError` where one is missing, of another type, or none of its choices. Arguments that the schema does not
    have are passed on: the function decides (S2-36).
    """
    properties: Mapping[str, Mapping[str, Any]] = tool.schema.get("properties", {})
    defaults = {name: schema["default"] for name, schema in properties.items() if "default" in schema}
    values = {**defaults, **arguments}
    for name in tool.schema.get("required", ()):
        if name not in values:
            raise CallRefusedError(refusal.refuse_missing_argument(tool.name, name))
    for name, schema in properties.items():
        if name in values:
            _check(tool.name, name, schema, values[name])
    return values


def _check(tool: str, name: str, schema: Mapping[str, Any], value: Any) -> None:
    is_valid, expected = _TYPES.get(schema.get("type", ""), (lambda _: True, ""))
    if not is_valid(value):
        raise CallRefusedError(refusal.refuse_wrong_argument(tool, name, expected))
    if "enum" in schema and value not in schema["enum"]:
        raise CallRefusedError(refusal.refuse_wrong_argument(tool, name, f"one of {', '.join(map(str, schema['enum']))}"))
