"""Arguments: what the model says to a declared tool, held against its parameters before anything is made of it."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from typing import Any

from jsonschema.exceptions import ValidationError

from ferryman.declared.schemas import DEPTH_MAX, depth_exceeds, faults
from ferryman.declared.templates import text
from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.tools.declared import Declared, Parameter

INTEGER_DIGITS_MAX = 64
ID = "id"
"""The one argument that stands for a path parameter of another name."""

_TYPES = {"string": "a string", "object": "an object", "integer": "an integer", "boolean": "true or false"}
_SHOWN = re.compile(r"[A-Za-z0-9_.-]{1,32}", re.ASCII)
_SHOWN_MAX = 20


def accepted(tool: Declared, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as the request takes them, or `CallRefusedError` naming the parameter and never its content.

    What pins hide is ignored, a null for what may be left out is left out, scalars become texts where only a text is asked
    for, and defaults are filled in.
    """
    if depth_exceeds(arguments, DEPTH_MAX):
        raise CallRefusedError(refusal.refuse_wrong_argument(tool.name, "arguments", f"nested at most {DEPTH_MAX} deep"))
    said = {}
    for name, value in arguments.items():
        if name in tool.params:
            continue
        parameter = tool.parameters.get(name)
        if not _plain(value):
            field = "arguments" if parameter is None else name
            raise CallRefusedError(
                refusal.refuse_wrong_argument(tool.name, field, "valid Unicode, and numbers that JSON can carry")
            )
        if parameter is None or value is not None or parameter.required or _nullable(parameter.schema):
            said[name] = _coerced(value, parameter)
    for name, parameter in tool.parameters.items():
        if name not in said and "default" in parameter.schema:
            said[name] = parameter.schema["default"]
    try:
        errors = sorted(faults(tool.schema, said), key=_rank)
    except (RecursionError, ArithmeticError):
        raise CallRefusedError(refusal.refuse_wrong_argument(tool.name, "arguments", "as its schema says")) from None
    if errors:
        raise CallRefusedError(_refusal(tool, errors[0]))
    return said


def bound(tool: Declared, arguments: Mapping[str, Any], in_path: Collection[str]) -> Mapping[str, Any]:
    """Return `arguments`, with `id` renamed to the one name `in_path` that is missing and ends in "id", as `petId` (S3-51).

    Nothing else is renamed, and nothing at all where another argument is unknown to the tool or it has an `id` of its own.
    """
    missing = [name for name in in_path if name not in arguments and name not in tool.params]
    unknown = [name for name in arguments if name not in tool.parameters and name not in tool.params]
    if unknown != [ID] or len(missing) != 1 or not missing[0].lower().endswith(ID):
        return arguments
    return {missing[0] if name == ID else name: value for name, value in arguments.items()}


def _plain(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _plain(key) and _plain(inner) for key, inner in value.items())
    if isinstance(value, list | tuple):
        return all(_plain(each) for each in value)
    if isinstance(value, str):
        return not any("\ud800" <= character <= "\udfff" for character in value) if not value.isascii() else True
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or isinstance(value, bool) or (isinstance(value, int) and abs(value) < 10**INTEGER_DIGITS_MAX)


def _nullable(schema: Mapping[str, Any]) -> bool:
    kind = schema.get("type")
    return kind == "null" or (isinstance(kind, list) and "null" in kind)


def _coerced(value: Any, parameter: Parameter | None) -> Any:
    wanted = parameter is not None and parameter.schema.get("type") == "string"
    return text(value) if wanted and isinstance(value, bool | int | float) else value


def _rank(error: ValidationError) -> tuple[int, str]:
    return (0 if error.validator == "required" and not error.path else 1, "/".join(map(str, error.path)))


def _refusal(tool: Declared, error: ValidationError) -> refusal.Refusal:
    if not error.path:
        given = error.instance if isinstance(error.instance, dict) else {}
        missing = next((name for name, each in tool.parameters.items() if each.required and name not in given), None)
        if missing is not None:
            return refusal.refuse_missing_argument(tool.name, missing)
        named = f"only {', '.join(tool.parameters)}" if tool.parameters else "nothing in it"
        return refusal.refuse_wrong_argument(tool.name, "arguments", f"an object with {named}")
    return refusal.refuse_wrong_argument(tool.name, str(error.path[0]), _expected(error))


def _expected(error: ValidationError) -> str:
    said: Any = error.validator_value
    if error.validator == "type" and len(error.path) == 1 and isinstance(said, str):
        return _TYPES.get(said, f"of type {said}")
    if error.validator == "enum" and len(error.path) == 1 and len(said) <= _SHOWN_MAX:
        shown = [text(each) for each in said]
        if all(_SHOWN.fullmatch(each) for each in shown):
            return f"one of {', '.join(shown)}"
    return "as its schema says"
