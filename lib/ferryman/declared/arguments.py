"""Arguments: what the model says to a declared tool, held against its parameters before anything is made of it."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from typing import Any

from jsonschema.exceptions import ValidationError

from ferryman.declared.schemas import DEPTH_MAX, depth_exceeds, faults
from ferryman.declared.templates import text
from ferryman.domain import refusal
from ferryman.domain.declared import Declared, Parameter
from ferryman.domain.refusal import Refused

INTEGER_DIGITS_MAX = 64
_TYPES = {"string": "a string", "object": "an object", "integer": "an integer", "boolean": "true or false"}
_SHOWN = re.compile(r"[A-Za-z0-9_.-]{1,32}", re.ASCII)
_SHOWN_MAX = 20


def accepted(tool: Declared, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as the request takes them, or `Refused` naming the parameter and never its content.

    What pins hide is ignored, a null for what may be left out is left out, scalars become texts where only a text is asked
    for, and defaults are filled in.
    """
    if depth_exceeds(arguments, DEPTH_MAX):
        raise Refused(refusal.wrong_argument(tool.name, "arguments", f"nested at most {DEPTH_MAX} deep"))
    said = {}
    for name, value in arguments.items():
        if name in tool.params:
            continue
        parameter = tool.parameters.get(name)
        if not _plain(value):
            field = "arguments" if parameter is None else name
            raise Refused(refusal.wrong_argument(tool.name, field, "valid Unicode, and numbers that JSON can carry"))
        if parameter is None or value is not None or parameter.required or _nullable(parameter.schema):
            said[name] = _coerced(value, parameter)
    for name, parameter in tool.parameters.items():
        if name not in said and "default" in parameter.schema:
            said[name] = parameter.schema["default"]
    try:
        errors = sorted(faults(tool.schema, said), key=_rank)
    except (RecursionError, ArithmeticError):
        raise Refused(refusal.wrong_argument(tool.name, "arguments", "as its schema says")) from None
    if errors:
        raise Refused(_refusal(tool, errors[0]))
    return said


def bound(tool: Declared, arguments: Mapping[str, Any], in_path: Collection[str]) -> Mapping[str, Any]:
    """`arguments`, with `id` taken for `petId` where that is the one name `in_path` that was not said (S3-51).

    Only where it is the one argument that the tool does not have, and the other name ends like it: any other is refused.
    """
    missing = [name for name in in_path if name not in arguments and name not in tool.params]
    unknown = [name for name in arguments if name not in tool.parameters and name not in tool.params]
    if len(missing) != 1 or len(unknown) != 1 or not unknown[0] or not missing[0].lower().endswith(unknown[0].lower()):
        return arguments
    return {missing[0] if name == unknown[0] else name: value for name, value in arguments.items()}


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
            return refusal.missing_argument(tool.name, missing)
        named = f"only {', '.join(tool.parameters)}" if tool.parameters else "nothing in it"
        return refusal.wrong_argument(tool.name, "arguments", f"an object with {named}")
    return refusal.wrong_argument(tool.name, str(error.path[0]), _expected(error))


def _expected(error: ValidationError) -> str:
    said: Any = error.validator_value
    if error.validator == "type" and len(error.path) == 1 and isinstance(said, str):
        return _TYPES.get(said, f"of type {said}")
    if error.validator == "enum" and len(error.path) == 1 and len(said) <= _SHOWN_MAX:
        shown = [text(each) for each in said]
        if all(_SHOWN.fullmatch(each) for each in shown):
            return f"one of {', '.join(shown)}"
    return "as its schema says"
