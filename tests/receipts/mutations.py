"""Mutations: every way in which one place of a JSON document can be another."""

from __future__ import annotations

import copy
import itertools
import json
import math
import unicodedata
from collections.abc import Iterator
from typing import Any

Place = tuple[str | int, ...]


def canonical(value: Any) -> str:
    """Return the text that tells values apart as JSON does: 1 and 1.0 and true are three."""
    return json.dumps(value, sort_keys=True)


def places(value: Any, at: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Yield every place in `value`, with what is there: leaves, objects and lists."""
    yield at, value
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from places(inner, (*at, name))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from places(inner, (*at, index))


def is_leaf(value: Any) -> bool:
    """Tell whether nothing is below `value`: a scalar, or a list or object without an item."""
    return not isinstance(value, dict | list) or not value


def put(document: Any, at: Place, value: Any) -> Any:
    """Return `document` with `value` in the place `at`; what is beside the way there is shared with it."""
    if not at:
        return value
    changed = copy.copy(document)
    changed[at[0]] = put(document[at[0]], at[1:], value)
    return changed


def others(value: Any) -> Iterator[Any]:
    """Yield what may stand in the place of `value`: each is another JSON value."""
    yield from (other for other in _others(value) if canonical(other) != canonical(value))


def _others(value: Any) -> Iterator[Any]:
    if isinstance(value, str):
        yield from _texts(value)
    elif isinstance(value, dict):
        yield from _objects(value)
    elif isinstance(value, list):
        yield from _lists(value)
    elif isinstance(value, bool):
        yield from (not value, int(value), str(value).lower())
    elif isinstance(value, int):
        yield from (value + 1, value - 1, float(value), -value, value + 2**53, str(value), bool(value))
    elif isinstance(value, float):
        yield from (math.nextafter(value, math.inf), math.nextafter(value, -math.inf), -value, int(value), str(value))
    else:
        yield from (0, "", False, "null")
    yield from (None, [], {}, [value], {"value": value})


def _texts(text: str) -> Iterator[str]:
    for place in {0, len(text) // 2, len(text) - 1} if text else ():
        yield text[:place] + chr(ord(text[place]) ^ 1) + text[place + 1 :]
    yield from (text[:-1], text[1:], text + " ", text + "0", text + "\u200b", text + "\ud800", text.swapcase(), "")
    yield from (unicodedata.normalize(form, text) for form in ("NFC", "NFD", "NFKC"))
    if text.endswith("Z"):
        yield from (text[:-1] + "+00:00", text[:-1] + ".000001Z", text[:-1])


def _objects(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield value | {"another": None}
    for name in value:
        yield {key: inner for key, inner in value.items() if key != name}
        yield {f"{key}_" if key == name else key: inner for key, inner in value.items()}
    for first, other in itertools.pairwise(value):
        yield value | {first: value[other], other: value[first]}


def _lists(value: list[Any]) -> Iterator[list[Any]]:
    yield [*value, None]
    if value:
        yield [*value, value[-1]]
        yield [value[0], *value]
        yield value[::-1]
    for place in range(len(value)):
        yield value[:place] + value[place + 1 :]
    for place in range(len(value) - 1):
        yield [*value[:place], value[place + 1], value[place], *value[place + 2 :]]
