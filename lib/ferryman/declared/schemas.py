"""Schemas: what a parameter's JSON Schema may be (2020-12), and argument validation: what the model passes, held against it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextvars import ContextVar
from itertools import islice
from typing import Any
from urllib.parse import urljoin

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend
from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]  # it has no types

from ferryman.declared.templates import to_text
from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.json_tree import find_fault, is_too_deep, walk
from ferryman.domain.tools.declared import DeclaredTool, Parameter

DEPTH_MAX = 64
FAULTS_MAX = 64
STEPS_MAX = 150_000
"""The budget of one validation: a step is a keyword, an item of the value, or four of what the keyword lists."""

_REFERENCES = frozenset(("$ref", "$dynamicRef", "$recursiveRef", "$id"))

Rule = Callable[[Any, Any, Any, Any], Any]
_steps_left: ContextVar[list[int]] = ContextVar("steps that are left")


class SchemaBudgetError(ArithmeticError):
    """Validating the value takes more steps than any call is worth."""


def _accept_anything(_validator: Any, _value: Any, _instance: Any, _schema: Any) -> Iterator[ValidationError]:
    return iter(())


def _check_additional(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
    if "patternProperties" in schema:
        return iter(())
    return Draft202012Validator.VALIDATORS["additionalProperties"](validator, value, instance, schema)


def _check_unique(_validator: Any, value: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    # the library compares each object with every other
    if value and isinstance(instance, list) and len({json.dumps(item, sort_keys=True) for item in instance}) < len(instance):
        yield ValidationError("has an item twice")


def _check_any_of(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    # the library keeps every fault under every alternative
    if not any(validator.evolve(schema=alternative).is_valid(instance) for alternative in value):
        yield ValidationError("fits none")


def _check_one_of(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if sum(validator.evolve(schema=alternative).is_valid(instance) for alternative in value) != 1:
        yield ValidationError("fits none, or several")


def _count_steps(rule: Rule) -> Rule:
    def check(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
        steps = _steps_left.get()
        steps[0] -= 1 + _count_items(value) // 4 + _count_items(instance)
        if steps[0] < 0:
            raise SchemaBudgetError
        return rule(validator, value, instance, schema)

    return check


def _count_items(value: Any) -> int:
    return len(value) if isinstance(value, list | tuple | dict) else 0


# A regular expression of a document, or of its owner, can take exponential time on a text of the model (ReDoS), and so can
# the rules about items that no other rule has evaluated: the service has to check them.
_UNCHECKED = ("pattern", "patternProperties", "unevaluatedProperties", "unevaluatedItems")
_RULES: Mapping[str, Rule] = {
    **Draft202012Validator.VALIDATORS,
    **dict.fromkeys(_UNCHECKED, _accept_anything),
    "additionalProperties": _check_additional,
    "uniqueItems": _check_unique,
    "anyOf": _check_any_of,
    "oneOf": _check_one_of,
}
_Validator = extend(  # type: ignore[no-untyped-call]  # untyped in the library
    Draft202012Validator, {name: _count_steps(rule) for name, rule in _RULES.items()}
)


def find_faults(schema: Mapping[str, Any], value: Any) -> list[ValidationError]:
    """Return the first `FAULTS_MAX` faults of `value` by `schema`. Raise `SchemaBudgetError`, and RecursionError."""
    _steps_left.set([STEPS_MAX])
    return list(islice(_Validator(schema).iter_errors(value), FAULTS_MAX))


def build_dialect() -> dict[str, Any]:
    """Return the schema of all schemas, its vocabularies merged into one document.

    Checking a thousand tools against it takes a sixth of the time.
    """
    top = Draft202012Validator.META_SCHEMA
    properties: dict[str, Any] = {}
    definitions: dict[str, Any] = {}
    for reference in top["allOf"]:
        vocabulary = REGISTRY.contents(urljoin(top["$id"], reference["$ref"]))
        properties |= vocabulary["properties"]
        definitions |= vocabulary.get("$defs", {})
    return {"type": top["type"], "properties": _make_static(properties), "$defs": _make_static(definitions)}


def _make_static(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    if isinstance(value.get("$dynamicRef"), str):
        return {"$ref": "#"}
    return {key: _make_static(inner) for key, inner in value.items()}


_DIALECT = Draft202012Validator(build_dialect())


def find_problem(schema: Mapping[str, Any]) -> str | None:
    """Return what is wrong with the schema of a parameter, or None."""
    schema = dict(schema)
    if is_too_deep(schema, DEPTH_MAX):
        return f"is nested more than {DEPTH_MAX} deep"
    if any(isinstance(value, str) and path[-1] in _REFERENCES for path, value in walk(schema) if path):
        return "has a $ref: the schema that it refers to must be written in its place"
    try:
        error = next(_DIALECT.iter_errors(schema), None)
        if error is not None:
            return f"is not a JSON Schema at {'.'.join(str(part)[:64] for part in error.path) or 'its top'}"
        if "default" in schema and find_faults(schema, schema["default"]):
            return "has a default that does not fit it"
    except (RecursionError, ArithmeticError):
        return "is a JSON Schema that is too expensive to check a value against"
    return None


INTEGER_DIGITS_MAX = 64
ID = "id"
"""The one argument that is accepted for a path parameter of another name."""

_TYPES = {"string": "a string", "object": "an object", "integer": "an integer", "boolean": "true or false"}
_PLAIN_WORD = re.compile(r"[A-Za-z0-9_.-]{1,32}", re.ASCII)
_CHOICES_MAX = 20


def accept_arguments(tool: DeclaredTool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments as the request takes them.

    Arguments for pins are ignored, null for an optional parameter is dropped, scalars become texts where only a text is
    accepted, and defaults are filled in. Raise `CallRefusedError`, which names the parameter and never its content.
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
        if name not in values and "default" in parameter.schema:
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
    names = f"only {', '.join(properties)}" if properties else "nothing in it"
    raise CallRefusedError(refusal.refuse_wrong_argument(tool, "arguments", f"an object with {names}"))


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
    if error.validator == "enum" and len(error.path) == 1 and len(rule) <= _CHOICES_MAX:
        choices = [to_text(value) for value in rule]
        if all(_PLAIN_WORD.fullmatch(choice) for choice in choices):
            return f"one of {', '.join(choices)}"
    return "as its schema says"
