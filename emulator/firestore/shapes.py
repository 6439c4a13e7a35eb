"""Shapes: what a query asks of the indexes, one shape for each of its disjunctions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

from . import filters
from .fields import NAME
from .query import Query

EQUALITIES = {"EQUAL", "IN", "IS_NULL", "IS_NAN"}
ASCENDING, DESCENDING, CONTAINS = "ASCENDING", "DESCENDING", "CONTAINS"

Entry = tuple[str, str]
"""A field path and how an index holds it: ASCENDING, DESCENDING, CONTAINS, or VECTOR with the dimension after a blank."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What an index, or several merged, must serve: `fixed` in any order, then `sorted` in its order, then the name.

    `fixed` are the fields compared for equality, as ASCENDING, and the array that is searched, as CONTAINS.
    """

    collection: str
    group: bool
    fixed: tuple[Entry, ...]
    sorted: tuple[Entry, ...]
    name: str


def iterate_shapes(query: Query) -> Iterator[Shape]:
    """Yield the shapes of a query. A query of names alone, or of all kinds of documents, needs no index."""
    orders, structured = query.orders, query.structured
    ends = [place for place, (path, _) in enumerate(orders) if path == NAME]
    ordered = orders[: ends[0] + 1]
    name = direction(ordered[-1][1])
    shape = [(path, direction(turned)) for path, turned in ordered[:-1]]
    if structured.HasField("find_nearest"):
        search = structured.find_nearest
        dimension = len(search.query_vector.map_value.fields["value"].array_value.values)
        shape.append((search.vector_field.field_path, f"VECTOR {dimension}"))
    parts = disjunctions(structured.where) if structured.HasField("where") else [()]
    for collection, group in query.sources:
        for leaves in parts if collection else ():
            fixed = dict.fromkeys(entry for leaf in leaves if (entry := find_mode(*leaf)))
            equal = {path for path, mode in fixed if mode == ASCENDING}
            rest = tuple(entry for entry in shape if entry[0] not in equal)
            yield Shape(collection=collection, group=group, fixed=tuple(fixed), sorted=rest, name=name)


def disjunctions(where: Any) -> list[tuple[Any, ...]]:
    """Return the filter's comparisons in disjunctive normal form; the values of an IN stay together, for they look alike."""
    if not where.HasField("composite_filter"):
        return [(filters.leaf(where),)]
    parts = [disjunctions(part) for part in where.composite_filter.filters]
    if where.composite_filter.op == filters.OR:
        return [leaves for part in parts for leaves in part]
    return [sum(chosen, ()) for chosen in product(*parts)]


def find_mode(path: str, operator: str, _: Any) -> Entry | None:
    """Return the mode in which an index must hold a field for its comparison; None when the sort order says it, or for the
    name."""
    if path == NAME:
        return None
    if operator in filters.ARRAYS:
        return path, CONTAINS
    return (path, ASCENDING) if operator in EQUALITIES else None


def direction(turned: bool) -> str:
    return DESCENDING if turned else ASCENDING
