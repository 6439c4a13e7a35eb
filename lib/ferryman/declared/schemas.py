"""Schemas: what a parameter's JSON Schema may be, and the model's arguments held against it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from ferryman.declared.templates import text
from ferryman.domain import refusal
from ferryman.domain.declared import Declared, Parameter
from ferryman.domain.refusal import Refused

DEPTH_MAX = 64
INTEGER_DIGITS_MAX = 64
_REFERENCES = frozenset(("$ref", "$dynamicRef", "$recursiveRef", "$id"))
_TYPES = {"string": "a string", "object": "an object", "integer": "an integer", "boolean": "true or false"}
_SHOWN = re.compile(r"[A-Za-z0-9_.-]{1,32}", re.ASCII)
_SHOWN_MAX = 20


def _any(_validator: Any, _value: Any, _instance: Any, _schema: Any) -> Iterator[ValidationError]:
    return iter(())


def _additional(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
    known = () if "patternProperties" in schema else Draft202012Validator.VALIDATORS["additionalProperties"]
    return known(validator, value, instance, schema) if callable(known) else iter(())


# A regular expression of a document, or of its owner, can take for ever on a text of the model: the other end has them to hold.
_PATTERNS = ("pattern", "patternProperties", "unevaluatedProperties")
Validator = extend(  # type: ignore[no-untyped-call]  # untyped in the library
    Draft202012Validator, {**dict.fromkeys(_PATTERNS, _any), "additionalProperties": _additional}
)
_META = Draft202012Validator(Draft202012Validator.META_SCHEMA)


def problem(parameter: Parameter) -> str | None:
    """What is wrong with a parameter's schema, or None."""
    schema = dict(parameter.schema)
    if depth_exceeds(schema, DEPTH_MAX):
        return f"is nested more than {DEPTH_MAX} deep"
    if _refers(schema):
        return "has a $ref: what it means must be written in its place"
    try:
        error = next(_META.iter_errors(schema), None)
        if error is not None:
            return f"is no JSON Schema at {'.'.join(str(each)[:64] for each in error.path) or 'its top'}"
        if "default" in schema and not Validator(schema).is_valid(schema["default"]):
            return "has a default that does not fit it"
    except (RecursionError, ArithmeticError, re.error):
        return "is a JSON Schema that cannot be held against anything"
    return None


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
        errors = sorted(Validator(tool.schema).iter_errors(said), key=_rank)
    except (RecursionError, ArithmeticError, re.error):
        raise Refused(refusal.wrong_argument(tool.name, "arguments", "as its schema says")) from None
    if errors:
        raise Refused(_refusal(tool, errors[0]))
    return said


def depth_exceeds(value: Any, most: int) -> bool:
    """Whether `value` is nested more than `most` deep."""
    level: list[Any] = [value]
    for _ in range(most + 1):
        level = [inner for outer in level if isinstance(outer, Mapping | list | tuple) for inner in _inner(outer)]
        if not level:
            return False
    return True


def _inner(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, Mapping) else value


def _refers(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any((key in _REFERENCES and isinstance(inner, str)) or _refers(inner) for key, inner in value.items())
    return isinstance(value, list | tuple) and any(_refers(each) for each in value)


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
