"""Indexes: those that a file declares in Firebase's format, and the refusal of a query that production could not serve.

The rules are production's documented ones. Every field has indexes of its own, ascending, descending and by array element,
for queries of one collection. Indexes are merged where they share the sort order and together hold every field compared
for equality. All else needs a composite index, as does a collection group a declared index of any kind. The file names the
TTL policies too, for `expiry.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from emulator.reading import InvalidRequestError, read_member, read_object

from .errors import failed_precondition
from .fields import NAME
from .query import Query
from .shapes import ASCENDING, CONTAINS, DESCENDING, Entry, Shape, iterate_shapes

COLLECTION, GROUP = "COLLECTION", "COLLECTION_GROUP"
AUTOMATIC = ((ASCENDING, COLLECTION), (DESCENDING, COLLECTION), (CONTAINS, COLLECTION))
EVERY = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """One index: what it holds in order, and the direction in which names break its ties."""

    collection: str
    group: bool
    entries: tuple[Entry, ...]
    name: str

    def serves(self, shape: Shape) -> bool:
        """Return whether it has the shape's order, after nothing but fields that the shape fixes."""
        if (self.collection, self.group, self.name) != (shape.collection, shape.group, shape.name):
            return False
        cut = len(self.entries) - len(shape.sorted)
        return cut >= 0 and self.entries[cut:] == shape.sorted and self.holds(cut) <= set(shape.fixed)

    def holds(self, cut: int) -> set[Entry]:
        """Return whether it has these entries first, regardless of their directions."""
        return {(path, ASCENDING if mode == DESCENDING else mode) for path, mode in self.entries[:cut]}


class Indexes:
    """The declared indexes; `used` are those of them that a query has needed so far."""

    def __init__(self, path: Path) -> None:
        """Read the file; raise OSError and Invalid."""
        self.path = path
        try:
            content = read_object(json.loads(path.read_text()), str(path))
        except json.JSONDecodeError as error:
            raise InvalidRequestError(f"{path} is not JSON: {error}") from error
        self.declared = frozenset(
            read_composite(read_object(source, f"indexes[{n}]"), f"indexes[{n}]")
            for n, source in enumerate(read_member(content, "indexes", list, str(path), []))
        )
        overrides = read_member(content, "fieldOverrides", list, str(path), [])
        self._single = dict(read_override(read_object(source, f"fieldOverrides[{n}]"), n) for n, source in enumerate(overrides))
        self.expiring = dict(
            way for n, source in enumerate(overrides) if (way := read_policy(read_object(source, f"fieldOverrides[{n}]"), n))
        )
        """The fields that tell when a document goes, by collection group."""
        self.used: set[Index] = set()

    def check(self, query: Query) -> None:
        """Raise FAILED_PRECONDITION, with the index to declare, when nothing declared or automatic serves the query."""
        for shape in iterate_shapes(query):
            if not (shape.fixed or shape.sorted) and shape.name == ASCENDING:
                continue
            usable = [index for index in (*self.declared, *self._automatic(shape)) if index.serves(shape)]
            chosen = cover(usable, shape)
            if chosen is None:
                raise failed_precondition(f"The query requires an index. Declare it in {self.path}: {self._missing(shape)}")
            self.used |= self.declared & set(chosen)

    def _automatic(self, shape: Shape) -> Iterator[Index]:
        """Yield the indexes of single fields that a shape could use."""
        scope = GROUP if shape.group else COLLECTION
        for path in dict.fromkeys(path for path, _ in (*shape.fixed, *shape.sorted)):
            for mode, query_scope in self._modes(shape.collection, path):
                if query_scope == scope:
                    yield build_index(shape.collection, shape.group, ((path, mode),))

    def _modes(self, collection: str, path: str) -> tuple[Entry, ...]:
        """Return how a field is indexed by itself: as overridden for it, for the map around it, for every field, or by
        default."""
        while path:
            if (collection, path) in self._single:
                return self._single[collection, path]
            path = path.rpartition(".")[0]
        return self._single.get((collection, EVERY), AUTOMATIC)

    def _missing(self, shape: Shape) -> str:
        """Return the entry to paste, as JSON: an override where fields indexed by themselves would do, else a composite
        index."""
        scope = GROUP if shape.group else COLLECTION
        for path, mode in find_single_fields(shape):
            known = self._modes(shape.collection, path)
            if (mode, scope) not in known:
                indexes = [{**mode_json(kind), "queryScope": query_scope} for kind, query_scope in (*known, (mode, scope))]
                return json.dumps({"collectionGroup": shape.collection, "fieldPath": path, "indexes": indexes})
        entries = (*shape.fixed, *shape.sorted)
        fields = [{"fieldPath": path, **mode_json(mode)} for path, mode in entries]
        if find_tie_break(entries) != shape.name:
            fields.append({"fieldPath": NAME, "order": shape.name})
        return json.dumps({"collectionGroup": shape.collection, "queryScope": scope, "fields": fields})


def find_single_fields(shape: Shape) -> tuple[Entry, ...]:
    """Return the single fields whose own indexes could serve a shape; none when only a composite index can."""
    if shape.sorted:
        return shape.sorted if not shape.fixed and shape.sorted[0][1] == shape.name and len(shape.sorted) == 1 else ()
    if shape.name == ASCENDING:
        return shape.fixed
    return () if any(mode == CONTAINS for _, mode in shape.fixed) else tuple((path, shape.name) for path, _ in shape.fixed)


def cover(usable: list[Index], shape: Shape) -> list[Index] | None:
    """Return indexes that together hold every fixed field, the widest first; None when they do not suffice."""
    missing = set(shape.fixed)
    chosen: list[Index] = []
    for item in sorted(usable, key=lambda index: (-len(index.entries), index.entries)):
        covered = item.holds(len(item.entries) - len(shape.sorted))
        if not chosen or covered & missing:
            chosen.append(item)
            missing -= covered
    return chosen if chosen and not missing else None


def find_tie_break(entries: tuple[Entry, ...]) -> str:
    """Return how names break the ties of an index that does not say it: as its last field is sorted."""
    return entries[-1][1] if entries and entries[-1][1] == DESCENDING else ASCENDING


def build_index(collection: str, group: bool, entries: tuple[Entry, ...]) -> Index:
    name = find_tie_break(entries)
    if entries and entries[-1][0] == NAME:
        entries = entries[:-1]
    return Index(collection=collection, group=group, entries=entries, name=name)


def read_composite(source: Mapping[str, object], where: str) -> Index:
    """Return one of the file's `indexes`; raise InvalidRequestError."""
    scope = read_member(source, "queryScope", str, where, COLLECTION)
    entries = tuple(
        (read_member(field, "fieldPath", str, where), read_mode(field, f"{where}.fields"))
        for field in (read_object(item, f"{where}.fields") for item in read_member(source, "fields", list, where))
    )
    return build_index(read_member(source, "collectionGroup", str, where), scope == GROUP, entries)


def read_override(source: Mapping[str, object], number: int) -> tuple[tuple[str, str], tuple[Entry, ...]]:
    """Return one of the file's `fieldOverrides`: the field, and how it is indexed by itself; raise InvalidRequestError."""
    where = f"fieldOverrides[{number}]"
    modes = tuple(
        (read_mode(item, where), read_member(item, "queryScope", str, where, COLLECTION))
        for item in (read_object(item, where) for item in read_member(source, "indexes", list, where))
    )
    return (read_member(source, "collectionGroup", str, where), read_member(source, "fieldPath", str, where)), modes


def read_policy(source: Mapping[str, object], number: int) -> tuple[str, str] | None:
    """Return the collection group whose documents go by the field, and that field, where it is a TTL policy; raise
    InvalidRequestError."""
    where = f"fieldOverrides[{number}]"
    if not read_member(source, "ttl", bool, where, False):
        return None
    return read_member(source, "collectionGroup", str, where), read_member(source, "fieldPath", str, where)


def read_mode(field: Mapping[str, object], where: str) -> str:
    if "vectorConfig" in field:
        vector = read_object(field["vectorConfig"], f"{where}.vectorConfig")
        return f"VECTOR {read_member(vector, 'dimension', int, where)}"
    way = read_member(field, "arrayConfig" if "arrayConfig" in field else "order", str, where)
    if way not in {ASCENDING, DESCENDING, CONTAINS}:
        raise InvalidRequestError(f"{where}: {way} is not a way to index a field")
    return way


def mode_json(mode: str) -> dict[str, object]:
    if mode.startswith("VECTOR"):
        return {"vectorConfig": {"dimension": int(mode.split()[1]), "flat": {}}}
    return {"arrayConfig": mode} if mode == CONTAINS else {"order": mode}
