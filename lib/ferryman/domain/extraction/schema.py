"""Schemas of values that are extracted: a bounded subset of JSON Schema, so that a value holds only what it has to.

`object` (every one of its `properties` is there, and no other), `array` (`items`, `maxItems`), `string` (`maxLength`, `enum`,
`format` date, date-time or email), `integer` and `number` (`minimum`, `maximum`), `boolean`; each may have a `description`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ferryman.domain.json_tree import find_fault, is_too_deep

SCHEMA_CHARACTERS_MAX = 5_000
DEPTH_MAX = 5
"""How many schemas are within each other at most."""

VALUES_MAX = 50
"""How many schemas a schema consists of at most, itself included."""

ITEMS_LIMIT, ITEMS_DEFAULT = 100, 20
"""`maxItems`: the highest, and that of an array that names none."""

LENGTH_LIMIT, LENGTH_DEFAULT = 5_000, 500
"""`maxLength`: the highest, and that of a string that names none."""

CHOICES_MAX = 50
FORMATS = ("date", "date-time", "email")

_KEYWORDS = {
    "object": ("properties", "required", "additionalProperties"),
    "array": ("items", "maxItems"),
    "string": ("maxLength", "enum", "format"),
    "integer": ("minimum", "maximum"),
    "number": ("minimum", "maximum"),
    "boolean": (),
}


class ExtractionSchemaError(ValueError):
    """A schema is none that values are extracted by; the text says where and why."""


def check_schema(schema: Any) -> Mapping[str, Any]:
    """Return a schema. Raise `ExtractionSchemaError` where it is more than the subset, or larger."""
    if not isinstance(schema, Mapping):
        raise ExtractionSchemaError("it must be an object")
    if is_too_deep(schema, 3 * DEPTH_MAX):
        raise ExtractionSchemaError(f"it may be nested at most {DEPTH_MAX} schemas deep")
    if len(json.dumps(schema)) > SCHEMA_CHARACTERS_MAX:
        raise ExtractionSchemaError(f"it may have at most {SCHEMA_CHARACTERS_MAX:,} characters as JSON")
    for count, (path, part) in enumerate(_walk(schema), 1):
        if count > VALUES_MAX:
            raise ExtractionSchemaError(f"it may consist of at most {VALUES_MAX} schemas")
        if fault := _find_fault(part):
            raise ExtractionSchemaError(f"{'.'.join(path) or 'it'}: {fault}")
        if len(path) >= DEPTH_MAX:
            raise ExtractionSchemaError(f"it may be nested at most {DEPTH_MAX} schemas deep")
    return schema


def _walk(schema: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    rest: list[tuple[tuple[str, ...], Any]] = [((), schema)]
    while rest:
        path, part = rest.pop()
        yield path, part  # who reads on has found no fault in it
        if part["type"] == "object":
            rest += [((*path, name), inner) for name, inner in part["properties"].items()]
        elif part["type"] == "array":
            rest.append(((*path, "items"), part["items"]))


def _find_fault(part: Any) -> str | None:
    kind = part.get("type") if isinstance(part, Mapping) else None
    if not isinstance(kind, str) or kind not in _KEYWORDS:
        return f"type must be one of {', '.join(_KEYWORDS)}"
    unknown = part.keys() - {"type", "description", *_KEYWORDS[kind]}
    if unknown:
        return f"a schema of type {kind} may have {', '.join(('description', *_KEYWORDS[kind]))} besides"
    if not isinstance(part.get("description", ""), str):
        return "description must be a text"
    return _RULES[kind](part)


def _check_object(part: Mapping[str, Any]) -> str | None:
    properties, required = part.get("properties"), part.get("required", [])
    if not isinstance(properties, Mapping) or not properties or find_fault(properties):
        return "properties must be an object with at least one member"
    if not isinstance(required, list) or any(name not in properties for name in required if isinstance(name, str)):
        return "required must be a list of names of properties: all of them are required anyway"
    return None if part.get("additionalProperties", False) is False else "additionalProperties can only be false"


def _check_array(part: Mapping[str, Any]) -> str | None:
    if "items" not in part:
        return "items is needed"
    return _check_count(part, "maxItems", ITEMS_LIMIT)


def _check_string(part: Mapping[str, Any]) -> str | None:
    choices = part.get("enum")
    if choices is not None and not _are_choices(choices):
        return f"enum must be a list of 1 to {CHOICES_MAX} texts"
    if part.get("format", FORMATS[0]) not in FORMATS:
        return f"format must be one of {', '.join(FORMATS)}"
    return _check_count(part, "maxLength", LENGTH_LIMIT)


def _are_choices(choices: Any) -> bool:
    return (
        isinstance(choices, list)
        and 0 < len(choices) <= CHOICES_MAX
        and all(isinstance(choice, str) and not find_fault(choice) for choice in choices)
    )


def _check_number(part: Mapping[str, Any]) -> str | None:
    bounds = [part[name] for name in ("minimum", "maximum") if name in part]
    if any(isinstance(bound, bool) or not isinstance(bound, int | float) or find_fault(bound) for bound in bounds):
        return "minimum and maximum must be numbers"
    return None


def _check_count(part: Mapping[str, Any], name: str, most: int) -> str | None:
    count = part.get(name, most)
    return None if type(count) is int and 0 < count <= most else f"{name} must be a whole number from 1 to {most:,}"


def _check_nothing(_: Mapping[str, Any]) -> str | None:
    return None


_RULES: Mapping[str, Callable[[Mapping[str, Any]], str | None]] = {
    "object": _check_object,
    "array": _check_array,
    "string": _check_string,
    "integer": _check_number,
    "number": _check_number,
    "boolean": _check_nothing,
}
