"""Transforms: what the server computes itself while it writes."""

from typing import Any

from .errors import invalid
from .fields import get, parse, put
from .values import NAN, check_reserved, is_number, key, number
from .wire import Document, Value, stamp

INT64 = 2**63
REQUEST_TIME = 1


def transform(document: Document, step: Any, at: int) -> Value:
    """Apply one FieldTransform to the document; the value that the write's result reports for it."""
    path = parse(step.field_path)
    check_reserved(path[0])
    current = get(document.fields, path)
    reported: Value | None = None
    match step.WhichOneof("transform_type"):
        case "set_to_server_value":
            if step.set_to_server_value != REQUEST_TIME:
                raise invalid("The server value of a transform is unspecified.")
            new = Value()
            stamp(new.timestamp_value, at)
        case "increment":
            new = add_numbers(current, operand(step.increment))
        case "maximum":
            new = choose_larger(current, operand(step.maximum), sign=1)
        case "minimum":
            new = choose_larger(current, operand(step.minimum), sign=-1)
        case "append_missing_elements":
            new = appended(elements(current), step.append_missing_elements.values)
            reported = Value(null_value=0)
        case "remove_all_from_array":
            new = without(elements(current), step.remove_all_from_array.values)
            reported = Value(null_value=0)
        case _:
            raise invalid("A field transform has no transform type.")
    put(document.fields, path, new)
    return new if reported is None else reported


def operand(value: Value) -> Value:
    if not is_number(value):
        raise invalid("The operand of a numeric transform must be a number.")
    return value


def add_numbers(current: Value | None, addend: Value) -> Value:
    """Return the sum; integers saturate at 64 bits, and what is no number counts as absent."""
    if current is None or not is_number(current):
        return addend
    amount = number(current) + number(addend)
    if isinstance(amount, int):
        return Value(integer_value=max(-INT64, min(INT64 - 1, amount)))
    return Value(double_value=amount)


def choose_larger(current: Value | None, other: Value, *, sign: int) -> Value:
    """Return the larger number (sign 1) or the smaller (sign -1); a tie keeps what is stored, and NaN wins either way."""
    if current is None or not is_number(current):
        return other
    mine, theirs = key(current), key(other)
    if NAN in (mine, theirs):
        return current if mine == NAN else other
    return other if (theirs > mine if sign > 0 else theirs < mine) else current


def elements(value: Value | None) -> list[Value]:
    return [] if value is None or value.WhichOneof("value_type") != "array_value" else list(value.array_value.values)


def appended(present: list[Value], added: Any) -> Value:
    known = {key(item) for item in present}
    new = list(present)
    for item in added:
        if key(item) not in known:
            known.add(key(item))
            new.append(item)
    return array(new)


def without(present: list[Value], removed: Any) -> Value:
    unwanted = {key(item) for item in removed}
    return array([item for item in present if key(item) not in unwanted])


def array(items: list[Value]) -> Value:
    value = Value()
    value.array_value.SetInParent()
    value.array_value.values.extend(items)
    return value
