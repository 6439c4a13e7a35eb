"""Fields: what a field path means, and reading, writing and projecting a document by one."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from .errors import invalid
from .wire import Document, Value

FieldPath = tuple[str, ...]
NAME = "__name__"
SEGMENT = re.compile(r"`((?:[^`\\]|\\.)+)`|([^.`]+)", re.DOTALL)
ESCAPED = re.compile(r"\\(.)", re.DOTALL)


@lru_cache(4096)
def parse(text: str) -> FieldPath:
    """Return the segments of a field path such as a.`b.c`; raise INVALID_ARGUMENT."""
    segments, start = [], 0
    while match := SEGMENT.match(text, start):
        quoted, plain = match.groups()
        segments.append(plain if quoted is None else ESCAPED.sub(r"\1", quoted))
        start = match.end()
        if start == len(text):
            return tuple(segments)
        if text[start] != ".":
            break
        start += 1
    raise invalid(f'Invalid property path "{text}".')


def is_map(value: Value) -> bool:
    return bool(value.WhichOneof("value_type") == "map_value")


def get(fields: Any, path: FieldPath) -> Value | None:
    """Return the value at a path of a protobuf map of fields; None when there is none."""
    *parents, last = path
    for segment in parents:
        if segment not in fields or not is_map(fields[segment]):
            return None
        fields = fields[segment].map_value.fields
    value: Value | None = fields.get(last)
    return value


def put(fields: Any, path: FieldPath, value: Value) -> None:
    """Set the value at a path; what is in the way becomes a map."""
    *parents, last = path
    for segment in parents:
        if not is_map(fields[segment]):
            fields[segment].Clear()
            fields[segment].map_value.SetInParent()
        fields = fields[segment].map_value.fields
    fields[last].CopyFrom(value)


def remove(fields: Any, path: FieldPath) -> None:
    *parents, last = path
    for segment in parents:
        if segment not in fields or not is_map(fields[segment]):
            return
        fields = fields[segment].map_value.fields
    fields.pop(last, None)


def project(document: Document, mask: Iterable[str] | None) -> Document:
    """Return the document with only the fields of the mask; None means all of them."""
    if mask is None:
        return document
    part = Document(name=document.name, create_time=document.create_time, update_time=document.update_time)
    for text in mask:
        if text != NAME and (value := get(document.fields, parse(text))) is not None:
            put(part.fields, parse(text), value)
    return part


def mask_of(request: Any, field: str = "mask") -> tuple[str, ...] | None:
    """Return the field paths of a request's mask, None when it has none."""
    return tuple(getattr(request, field).field_paths) if request.HasField(field) else None
