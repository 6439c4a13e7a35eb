"""Examples of the SDK's own types: one of every member of a union, and of every union inside it, with every field set."""

from __future__ import annotations

import types
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel


def list_members(union: Any) -> list[type[BaseModel]]:
    """Return the classes of a union, without its annotations."""
    if get_origin(union) is Annotated:
        return list_members(get_args(union)[0])
    if get_origin(union) in (Union, types.UnionType):
        return [member for part in get_args(union) for member in list_members(part)]
    return [union]


def list_types(union: Any) -> set[str]:
    """Return the values that the field `type` has in the classes of a union."""
    return {get_args(member.model_fields["type"].annotation)[0] for member in list_members(union)}


def build_examples(kind: Any) -> list[Any]:
    """Return JSON values of a type: as many as its field with the most alternatives needs."""
    return list(_iterate(kind))


def _iterate(kind: Any) -> Iterator[Any]:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        yield from _iterate(arguments[0])
    elif origin in (Union, types.UnionType):
        for member in arguments:
            yield from _iterate(member)
    elif origin is Literal:
        yield arguments[0]
    elif origin is list:
        yield build_examples(arguments[0])
    elif origin is dict:
        yield {"query": "é", "deep": [None, True, 1.5]}
    elif isinstance(kind, type) and issubclass(kind, BaseModel):
        yield from _iterate_model(kind)
    else:
        yield {str: "a text", int: 3, float: 1.5, bool: True, type(None): None, datetime: "2026-11-22T10:00:00Z"}.get(kind, "x")


def _iterate_model(kind: type[BaseModel]) -> Iterator[dict[str, Any]]:
    fields = {field.alias or name: build_examples(field.annotation) for name, field in kind.model_fields.items()}
    for number in range(max(map(len, fields.values()))):
        yield {name: examples[number % len(examples)] for name, examples in fields.items()}
