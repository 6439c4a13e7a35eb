"""Schemas: what a parameter's JSON Schema may be, and which of its rules are held here (JSON Schema 2020-12)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from itertools import islice
from typing import Any
from urllib.parse import urljoin

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend
from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]  # it has no types

from ferryman.domain.tools.declared import Parameter

DEPTH_MAX = 64
_REFERENCES = frozenset(("$ref", "$dynamicRef", "$recursiveRef", "$id"))


FAULTS_MAX = 64
STEPS_MAX = 150_000
"""What holding a value against a schema may take: a step is a keyword, an item of the value, or four of what it is held to."""

Rule = Callable[[Any, Any, Any, Any], Any]
_left: ContextVar[list[int]] = ContextVar("steps that are left")


class SchemaBudgetError(ArithmeticError):
    """Holding the value against the schema takes more steps than any call is worth."""


def _any(_validator: Any, _value: Any, _instance: Any, _schema: Any) -> Iterator[ValidationError]:
    return iter(())


def _additional(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
    if "patternProperties" in schema:
        return iter(())
    return Draft202012Validator.VALIDATORS["additionalProperties"](validator, value, instance, schema)


def _unique(_validator: Any, value: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    # the library compares each object with every other
    if value and isinstance(instance, list) and len({json.dumps(each, sort_keys=True) for each in instance}) < len(instance):
        yield ValidationError("has something twice")


def _any_of(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    # the library keeps every fault under every alternative
    if not any(validator.evolve(schema=each).is_valid(instance) for each in value):
        yield ValidationError("fits none")


def _one_of(validator: Any, value: Any, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if sum(validator.evolve(schema=each).is_valid(instance) for each in value) != 1:
        yield ValidationError("fits none, or several")


def _counted(rule: Rule) -> Rule:
    def held(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
        steps = _left.get()
        steps[0] -= 1 + _length(value) // 4 + _length(instance)
        if steps[0] < 0:
            raise SchemaBudgetError
        return rule(validator, value, instance, schema)

    return held


def _length(value: Any) -> int:
    return len(value) if isinstance(value, list | tuple | dict) else 0


# A regular expression of a document, or of its owner, can take for ever on a text of the model, and so can
# what asks which items other rules have looked at: the other end has them to hold.
_UNHELD = ("pattern", "patternProperties", "unevaluatedProperties", "unevaluatedItems")
_RULES: Mapping[str, Rule] = {
    **Draft202012Validator.VALIDATORS,
    **dict.fromkeys(_UNHELD, _any),
    "additionalProperties": _additional,
    "uniqueItems": _unique,
    "anyOf": _any_of,
    "oneOf": _one_of,
}
_Validator = extend(  # type: ignore[no-untyped-call]  # untyped in the library
    Draft202012Validator, {name: _counted(rule) for name, rule in _RULES.items()}
)


def faults(schema: Mapping[str, Any], value: Any) -> list[ValidationError]:
    """The first `FAULTS_MAX` that `value` has by `schema`. Raises `SchemaBudgetError`, and RecursionError."""
    _left.set([STEPS_MAX])
    return list(islice(_Validator(schema).iter_errors(value), FAULTS_MAX))


def dialect() -> dict[str, Any]:
    """The schema of all schemas, its vocabularies merged into one document: a sixth of the time, for a thousand tools."""
    top = Draft202012Validator.META_SCHEMA
    properties: dict[str, Any] = {}
    definitions: dict[str, Any] = {}
    for each in top["allOf"]:
        vocabulary = REGISTRY.contents(urljoin(top["$id"], each["$ref"]))
        properties |= vocabulary["properties"]
        definitions |= vocabulary.get("$defs", {})
    return {"type": top["type"], "properties": _static(properties), "$defs": _static(definitions)}


def _static(value: Any) -> Any:
    if isinstance(value, Mapping):
        if isinstance(value.get("$dynamicRef"), str):
            return {"$ref": "#"}
        return {key: _static(inner) for key, inner in value.items()}
    return value


_DIALECT = Draft202012Validator(dialect())


def problem(parameter: Parameter) -> str | None:
    """What is wrong with a parameter's schema, or None."""
    schema = dict(parameter.schema)
    if depth_exceeds(schema, DEPTH_MAX):
        return f"is nested more than {DEPTH_MAX} deep"
    if _refers(schema):
        return "has a $ref: what it means must be written in its place"
    try:
        error = next(_DIALECT.iter_errors(schema), None)
        if error is not None:
            return f"is no JSON Schema at {'.'.join(str(each)[:64] for each in error.path) or 'its top'}"
        if "default" in schema and faults(schema, schema["default"]):
            return "has a default that does not fit it"
    except (RecursionError, ArithmeticError):
        return "is a JSON Schema that cannot be held against anything"
    return None


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
