"""Arguments: what the model wrote, held against the tool's schema before anything is done with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from ferryman.domain import refusal
from ferryman.domain.http import Method
from ferryman.domain.refusal import Refused
from ferryman.domain.tool import Tool

_EXPECTED = {"string": "a string", "object": "an object", "integer": "an integer", "boolean": "true or false"}
DEPTH_MAX = 64
"""Nesting of an argument beyond this is refused: it would only exhaust whoever walks it."""


def check(tool: Tool, arguments: Mapping[str, Any]) -> None:
    """Refuse arguments that do not fit the tool's schema, naming the field and never its content."""
    if _depth_exceeds(arguments, DEPTH_MAX):
        raise Refused(refusal.wrong_argument(tool.name, "arguments", f"nested at most {DEPTH_MAX} deep"))
    errors = sorted(Draft202012Validator(tool.schema).iter_errors(dict(arguments)), key=_rank)
    if errors:
        raise Refused(_refusal(tool, errors[0]))


def method(tool: Tool, arguments: Mapping[str, Any], allowed: tuple[Method, ...]) -> Method:
    """The method asked for, in any case, or `Refused` (S0-13)."""
    asked = arguments.get("method")
    if asked is None:
        raise Refused(refusal.missing_argument(tool.name, "method"))
    if not isinstance(asked, str):
        raise Refused(refusal.wrong_argument(tool.name, "method", "a string"))
    found = next((each for each in allowed if each.value == asked.upper()), None)
    if found is None:
        raise Refused(refusal.method_not_allowed(tool.name, asked, (each.value for each in allowed)))
    return found


def _rank(error: ValidationError) -> tuple[int, str]:
    return (0 if error.validator == "required" else 1, "/".join(str(part) for part in error.path))


def _refusal(tool: Tool, error: ValidationError) -> refusal.Refusal:
    properties: Mapping[str, Any] = tool.schema["properties"]
    if error.validator == "required":
        given = error.instance if isinstance(error.instance, dict) else {}
        missing = next(name for name in tool.schema["required"] if name not in given)
        return refusal.missing_argument(tool.name, missing)
    field = str(error.path[0]) if error.path else "arguments"
    if field not in properties:
        return refusal.wrong_argument(tool.name, "arguments", f"an object with only {', '.join(properties)}")
    return refusal.wrong_argument(tool.name, field, _EXPECTED.get(str(error.validator_value), "as its schema says"))


def _depth_exceeds(value: Any, most: int) -> bool:
    level: list[Any] = [value]
    for _ in range(most):
        level = [
            inner
            for outer in level
            if isinstance(outer, Mapping | list | tuple)
            for inner in (outer.values() if isinstance(outer, Mapping) else outer)
        ]
        if not level:
            return False
    return True
