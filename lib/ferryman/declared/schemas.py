"""Schemas: what a parameter's JSON Schema may be (2020-12), and argument validation: what the model passes, held against it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from itertools import islice
from typing import Any
from urllib.parse import urljoin

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend
from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]  # it has no types

from ferryman.declared import patterns
from ferryman.declared.formats import build_checker
from ferryman.domain.json_tree import is_too_deep, walk

DEPTH_MAX = 64
FAULTS_MAX = 64
STEPS_MAX = 150_000
"""The budget of one validation: a step is a keyword, an item of the value, or four of what the keyword lists."""

_REFERENCES = frozenset(("$ref", "$dynamicRef", "$recursiveRef", "$id"))

Rule = Callable[[Any, Any, Any, Any], Any]
_steps_left: ContextVar[list[int]] = ContextVar("steps that are left")


class SchemaBudgetError(ArithmeticError):
    """Validating the value takes more steps than any call is worth."""


def _check_pattern(_validator: Any, value: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if isinstance(value, str) and isinstance(instance, str) and not _find(value, instance):
        yield ValidationError("has another pattern")


def _check_pattern_properties(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, dict):
        for pattern, schema in value.items():
            for name, member in instance.items():
                if patterns.is_known(pattern) and _find(pattern, name):
                    yield from validator.descend(member, schema, path=name, schema_path=pattern)


def _find(pattern: str, text: str) -> bool:
    _take_steps(patterns.count_steps(pattern, text))
    return patterns.matches(pattern, text)


def _accept_anything(_validator: Any, _value: Any, _instance: Any, _schema: Any) -> Iterator[ValidationError]:
    return iter(())


def _check_additional(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
    if "patternProperties" in schema and isinstance(instance, dict):
        # the library looks for the names with an engine that may take exponential time
        known = schema["patternProperties"]
        instance = {name: member for name, member in instance.items() if not any(_find(pattern, name) for pattern in known)}
        schema = {name: rule for name, rule in schema.items() if name != "patternProperties"}
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
        _take_steps(1 + _count_items(value) // 4 + _count_items(instance))
        return rule(validator, value, instance, schema)

    return check


def _take_steps(number: int) -> None:
    steps = _steps_left.get()
    steps[0] -= number
    if steps[0] < 0:
        raise SchemaBudgetError


def _count_items(value: Any) -> int:
    return len(value) if isinstance(value, list | tuple | dict) else 0


# The rules about items that no other rule has evaluated can take exponential time: the service has to check them.
_UNCHECKED = ("unevaluatedProperties", "unevaluatedItems")
_RULES: Mapping[str, Rule] = {
    **Draft202012Validator.VALIDATORS,
    **dict.fromkeys(_UNCHECKED, _accept_anything),
    "pattern": _check_pattern,
    "patternProperties": _check_pattern_properties,
    "additionalProperties": _check_additional,
    "uniqueItems": _check_unique,
    "anyOf": _check_any_of,
    "oneOf": _check_one_of,
}
_Validator = extend(  # type: ignore[no-untyped-call]  # untyped in the library
    Draft202012Validator, {name: _count_steps(rule) for name, rule in _RULES.items()}
)


_FORMATS = build_checker()


def find_faults(schema: Mapping[str, Any], value: Any, *, formats: bool = True) -> list[ValidationError]:
    """Return the first `FAULTS_MAX` faults of `value` by `schema`. Raise `SchemaBudgetError`, and RecursionError.

    Without `formats`, texts are not held against the formats that the schema names.
    """
    _steps_left.set([STEPS_MAX])
    return list(islice(_Validator(schema, format_checker=_FORMATS if formats else None).iter_errors(value), FAULTS_MAX))


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


_DATA = frozenset(("const", "default", "enum", "examples"))


def _list_patterns(schema: Any) -> Iterator[str]:
    """Yield the patterns in a schema that fits the dialect; what is a value, and not a schema, has none."""
    pending: list[tuple[Any, bool]] = [(schema, True)]
    while pending:
        value, is_schema = pending.pop()
        if isinstance(value, list | tuple):
            pending.extend((item, True) for item in value)
        if not isinstance(value, Mapping):
            continue
        for name, inner in value.items():
            if is_schema and name == "pattern" and isinstance(inner, str):
                yield inner
            elif is_schema and name == "patternProperties":
                yield from inner
            if not (is_schema and name in _DATA):
                # what `properties` and their like have is named, each a schema
                pending.append((inner, not (is_schema and name in _NAMED)))


_NAMED = frozenset(("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"))


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
        if any(not patterns.is_known(pattern) for pattern in _list_patterns(schema)):
            return (
                f"has a pattern that is not known: at most {patterns.CHARACTERS_MAX} characters, without backreferences, "
                "looking ahead or behind, and repetitions of more than 1000 (RE2)"
            )
        # documents name formats that their own defaults do not have: that makes no operation unusable
        if "default" in schema and find_faults(schema, schema["default"], formats=False):
            return "has a default that does not fit it"
    except (RecursionError, ArithmeticError):
        return "is a JSON Schema that is too expensive to check a value against"
    return None
