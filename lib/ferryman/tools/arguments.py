"""Argument validation: check a call's arguments against the tool's schema before anything else is done with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.http.request import Method
from ferryman.domain.tools.tool import Tool

_EXPECTED = {"string": "a string", "object": "an object", "integer": "an integer", "boolean": "true or false"}
DEPTH_MAX = 64
"""Arguments nested deeper are refused: they would exhaust the code that walks them."""


def check_arguments(tool: Tool, arguments: Mapping[str, Any]) -> None:
    """Raise `CallRefusedError` for arguments that do not fit the tool's schema, naming the field and never its content."""
    if _depth_exceeds(arguments, DEPTH_MAX):
        raise CallRefusedError(refusal.refuse_wrong_argument(tool.name, "arguments", f"nested at most {DEPTH_MAX} deep"))
    errors = sorted(Draft202012Validator(tool.schema).iter_errors(dict(arguments)), key=_rank)
    if errors:
        raise CallRefusedError(_refusal(tool, errors[0]))


def parse_method(tool: Tool, arguments: Mapping[str, Any], allowed: tuple[Method, ...]) -> Method:
    """Return the HTTP method of the call, written in any case. Raise `CallRefusedError` for one not `allowed` (S0-13)."""
    name = arguments.get("method")
    if name is None:
        raise CallRefusedError(refusal.refuse_missing_argument(tool.name, "method"))
    if not isinstance(name, str):
        raise CallRefusedError(refusal.refuse_wrong_argument(tool.name, "method", "a string"))
    parsed = next((method for method in allowed if method.value == name.upper()), None)
    if parsed is None:
        raise CallRefusedError(refusal.refuse_method(tool.name, name, (method.value for method in allowed)))
    return parsed


def _rank(error: ValidationError) -> tuple[int, str]:
    return (0 if error.validator == "required" else 1, "/".join(str(part) for part in error.path))


def _refusal(tool: Tool, error: ValidationError) -> refusal.Refusal:
    properties: Mapping[str, Any] = tool.schema["properties"]
    if error.validator == "required":
        present = error.instance if isinstance(error.instance, dict) else {}
        missing = next(name for name in tool.schema["required"] if name not in present)
        return refusal.refuse_missing_argument(tool.name, missing)
    field = str(error.path[0]) if error.path else "arguments"
    if field not in properties:
        return refusal.refuse_wrong_argument(tool.name, "arguments", f"an object with only {', '.join(properties)}")
    return refusal.refuse_wrong_argument(tool.name, field, _EXPECTED.get(str(error.validator_value), "as its schema says"))


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
