"""Argument validation: what the model passes to a tool against its parameters, before a request is made of it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from jsonschema.exceptions import ValidationError

from ferryman.declared.formats import FORMATS
from ferryman.declared.schemas import DEPTH_MAX, find_faults
from ferryman.declared.templates import to_text
from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.json_tree import find_fault, is_too_deep, walk
from ferryman.domain.tools.declared import DeclaredTool, Parameter

INTEGER_DIGITS_MAX = 64
ID = "id"
"""The one argument that is accepted for a path parameter of another name."""

_TYPES = {"string": "a string", "object": "an object", "integer": "an integer", "boolean": "true or false"}
_PLAIN_WORD = re.compile(r"[A-Za-z0-9_.-]{1,32}", re.ASCII)
_CHOICES_MAX = 20


def accept_arguments(tool: DeclaredTool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments as the request takes them.

    Arguments for pins are ignored, null for an optional parameter is dropped, scalars become texts where only a text is
    accepted, and defaults are filled in; the optional ones of an imported tool are left to its service, which has them by
    OpenAPI's own rule: GitHub refuses some pairs of parameters, and a PATCH would undo what was set before. Raise
    `CallRefusedError`, which names the parameter and never its content.
    """
    check_depth(tool.name, arguments)
    values = {}
    for name, value in arguments.items():
        if name in tool.params:
            continue
        parameter = tool.parameters.get(name)
        if not _is_plain(value):
            field = "arguments" if parameter is None else name
            expected = "valid Unicode, and numbers that JSON can represent"
            raise CallRefusedError(refusal.refuse_wrong_argument(tool.name, field, expected))
        if parameter is None or value is not None or parameter.required or _is_nullable(parameter.schema):
            values[name] = _coerce(value, parameter)
    for name, parameter in tool.parameters.items():
        if name not in values and "default" in parameter.schema and (parameter.required or not tool.cluster):
            values[name] = parameter.schema["default"]
    check_schema(tool.name, tool.schema, values)
    return values


def check_depth(tool: str, arguments: Mapping[str, Any]) -> None:
    """Raise `CallRefusedError` for arguments that are nested so deep that they would exhaust the code that walks them."""
    if is_too_deep(arguments, DEPTH_MAX):
        raise CallRefusedError(refusal.refuse_wrong_argument(tool, "arguments", f"nested at most {DEPTH_MAX} deep"))


def check_schema(tool: str, schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> None:
    """Raise `CallRefusedError` for arguments that do not fit `schema`, naming the parameter and never its content."""
    try:
        errors = sorted(find_faults(schema, dict(arguments)), key=_rank)
    except (RecursionError, ArithmeticError):
        raise CallRefusedError(refusal.refuse_wrong_argument(tool, "arguments", "as its schema says")) from None
    if not errors:
        return
    error, properties = errors[0], schema["properties"]
    if error.path:
        raise CallRefusedError(refusal.refuse_wrong_argument(tool, str(error.path[0]), _describe_expected(error)))
    missing = next((name for name in schema["required"] if name not in arguments), None)
    if missing is not None:
        raise CallRefusedError(refusal.refuse_missing_argument(tool, missing))
    if not properties:
        raise CallRefusedError(refusal.refuse_any_argument(tool))
    unknown = next((name for name in arguments if name not in properties), "?")
    raise CallRefusedError(refusal.refuse_unknown_argument(tool, unknown, properties))


def rename_id(tool: DeclaredTool, arguments: Mapping[str, Any], in_path: Collection[str]) -> Mapping[str, Any]:
    """Return `arguments`, with `id` renamed to the only name `in_path` that is missing and ends in "id", as `petId` (S3-51).

    Nothing else is renamed, and nothing at all where another argument is unknown to the tool or it has an `id` of its own.
    """
    missing = [name for name in in_path if name not in arguments and name not in tool.params]
    unknown = [name for name in arguments if name not in tool.parameters and name not in tool.params]
    if unknown != [ID] or len(missing) != 1 or not missing[0].lower().endswith(ID):
        return arguments
    return {missing[0] if name == ID else name: value for name, value in arguments.items()}


def _is_plain(value: Any) -> bool:
    leaves = (leaf for _, leaf in walk(value))
    return not any(find_fault(leaf) or (isinstance(leaf, int) and abs(leaf) >= 10**INTEGER_DIGITS_MAX) for leaf in leaves)


def _is_nullable(schema: Mapping[str, Any]) -> bool:
    types = schema.get("type")
    return types == "null" or (isinstance(types, list) and "null" in types)


def _coerce(value: Any, parameter: Parameter | None) -> Any:
    is_text = parameter is not None and parameter.schema.get("type") == "string"
    return to_text(value) if is_text and isinstance(value, bool | int | float) else value


def _rank(error: ValidationError) -> tuple[int, str]:
    return (0 if error.validator == "required" and not error.path else 1, "/".join(map(str, error.path)))


def _describe_expected(error: ValidationError) -> str:
    rule: Any = error.validator_value
    if error.validator == "type" and len(error.path) == 1 and isinstance(rule, str):
        return _TYPES.get(rule, f"of type {rule}")
    if error.validator == "format" and len(error.path) == 1 and rule in FORMATS:
        return FORMATS[rule].description
    if error.validator == "enum" and len(error.path) == 1 and len(rule) <= _CHOICES_MAX:
        choices = [to_text(value) for value in rule]
        if all(_PLAIN_WORD.fullmatch(choice) for choice in choices):
            return f"one of {', '.join(choices)}"
    return "as its schema says"
