"""Values: how they sort, what may be stored, and how many bytes they count."""

import math
from typing import Any

from .errors import invalid
from .limits import MAP_DEPTH
from .paths import RESERVED, name_key, name_size
from .wire import Document, Value

Key = tuple[Any, ...]
"""Sorts as Firestore sorts values: the type's rank first, then the value within it."""

NUMBER, TIMESTAMP, STRING, REFERENCE, ARRAY, VECTOR, MAP = 2, 3, 5, 7, 9, 10, 11
NULL: Key = (0,)
NAN: Key = (NUMBER, 0, 0)


def key(value: Value) -> Key:
    """Return the sort key of a value; equal values have equal keys, whole doubles equal integers."""
    kind = value.WhichOneof("value_type")
    match kind:
        case "string_value":
            return (STRING, value.string_value)
        case "integer_value":
            return (NUMBER, 1, value.integer_value)
        case "double_value":
            number = value.double_value
            return NAN if math.isnan(number) else (NUMBER, 1, number)
        case None | "null_value":
            return NULL
        case "boolean_value":
            return (1, value.boolean_value)
        case "timestamp_value":
            return (TIMESTAMP, value.timestamp_value.seconds, value.timestamp_value.nanos)
        case "bytes_value":
            return (6, value.bytes_value)
        case "reference_value":
            return (REFERENCE, name_key(value.reference_value))
        case "geo_point_value":
            return (8, value.geo_point_value.latitude, value.geo_point_value.longitude)
        case "array_value":
            return (ARRAY, tuple([key(item) for item in value.array_value.values]))
        case "map_value":
            return map_key(value.map_value.fields)
    raise invalid(f"Values of type {kind} cannot be stored or compared.")


def map_key(fields: Any) -> Key:
    if is_vector(fields):
        items = fields["value"].array_value.values
        return (VECTOR, len(items), tuple([key(item) for item in items]))
    return (MAP, tuple([(name, key(fields[name])) for name in sorted(fields)]))


def is_vector(fields: Any) -> bool:
    return "__type__" in fields and fields["__type__"].string_value == "__vector__" and "value" in fields


def is_number(value: Value | None) -> bool:
    return value is not None and value.WhichOneof("value_type") in {"integer_value", "double_value"}


def number(value: Value) -> int | float:
    """Return the number a value holds; NaN included."""
    return int(value.integer_value) if value.WhichOneof("value_type") == "integer_value" else float(value.double_value)


def check_fields(fields: Any) -> None:
    """Refuse what cannot be stored, and cut timestamps to microseconds; raise INVALID_ARGUMENT."""
    for name, value in fields.items():
        check_reserved(name)
        check_name(name)
        check_value(value)


def check_reserved(name: str) -> None:
    """Refuse a document's own field of a name such as __this__; within maps such names may stand."""
    if RESERVED.fullmatch(name):
        raise invalid(f'The property.name "{name}" is reserved.')


def check_name(name: str) -> None:
    if not name:
        raise invalid("The property.name is the empty string.")


def check_value(value: Value, *, in_array: bool = False, depth: int = 0) -> None:
    match value.WhichOneof("value_type"):
        case "array_value":
            if in_array:
                raise invalid("Cannot convert an array value in an array value.")
            for item in value.array_value.values:
                check_value(item, in_array=True, depth=depth)
        case "map_value":
            if depth >= MAP_DEPTH:
                raise invalid("Property contains an invalid nested entity: it is more than 20 levels deep.")
            for name, item in value.map_value.fields.items():
                check_name(name)
                check_value(item, depth=depth + 1)
        case "timestamp_value":
            value.timestamp_value.nanos -= value.timestamp_value.nanos % 1000
        case "field_reference_value" | "variable_reference_value" | "function_value" | "pipeline_value" as kind:
            raise invalid(f"Values of type {kind} cannot be stored.")


FIXED = {"boolean_value": 1, "integer_value": 8, "double_value": 8, "timestamp_value": 8, "geo_point_value": 16}
SMALLEST_RATIO = 4
"""A document counts at most four times its wire size (a geo point at 0, 0), so small ones need no counting."""


def size(value: Value) -> int:
    """Return the size of a value in bytes, as production counts it."""
    match value.WhichOneof("value_type"):
        case "string_value":
            return len(value.string_value.encode()) + 1
        case "bytes_value":
            return len(value.bytes_value)
        case "reference_value":
            return name_size(value.reference_value)
        case "array_value":
            return sum(size(item) for item in value.array_value.values)
        case "map_value":
            return fields_size(value.map_value.fields)
        case kind:
            return FIXED.get(kind or "", 1)


def fields_size(fields: Any) -> int:
    return sum(len(name.encode()) + 1 + size(value) for name, value in fields.items())


def check_size(document: Document, most: int) -> None:
    """Refuse a document of more than `most` bytes; raise INVALID_ARGUMENT."""
    if document.ByteSize() * SMALLEST_RATIO <= most:
        return
    if name_size(document.name) + fields_size(document.fields) + 32 > most:
        raise invalid(f"Document '{document.name}' cannot be written because its size exceeds the maximum of {most:,} bytes.")
