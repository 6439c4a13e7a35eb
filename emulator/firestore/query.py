"""Queries: which documents a StructuredQuery means, and in what order."""

import heapq
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from . import filters
from .errors import invalid
from .fields import NAME, parse
from .history import History, Version
from .ordered import Need, Rank
from .paths import EVERYWHERE, check_parent, collection_of, group_place
from .values import REFERENCE, Key, key
from .wire import StructuredQuery


class Query:
    """A query bound to a database; it may be run at any moment, and asked whether a document belongs to it."""

    def __init__(self, history: History, parent: str, query: StructuredQuery, *, needs: Sequence[str] = ()) -> None:
        """Check a query, whose documents must have the fields `needs` besides; raise INVALID_ARGUMENT."""
        check_parent(history.database, parent)
        self._history = history
        self._parent = parent
        self._predicate: filters.Predicate | None = None
        inequalities = set(needs)
        self._need: Need | None = None
        self._required: list[tuple[str, str, Any]] = []
        """The comparisons that a document must pass, each for itself."""
        if query.HasField("where"):
            filters.check(query.where)
            self._predicate = filters.build_predicate(query.where)
            if not filters.has_or(query.where):
                leaves = filters.iterate_leaves(query.where)
                self._required = [(path, operator, value) for path, operator, value in leaves if value is not None]
            inequalities |= {
                path for path, operator, _ in filters.iterate_leaves(query.where) if operator in filters.INEQUALITIES
            }
        self.orders = list_orders(query, inequalities)
        self._needed = [path for path, _ in self.orders if path != NAME]
        self._start = self._cursor(query.start_at) if query.HasField("start_at") else None
        self._end = self._cursor(query.end_at) if query.HasField("end_at") else None
        self.limit: int | None = query.limit.value if query.HasField("limit") else None
        self.offset: int = query.offset
        if self.offset < 0 or (self.limit is not None and self.limit < 0):
            raise invalid("A query's limit and offset cannot be negative.")
        self.structured = query
        self.sources = [(source.collection_id, source.all_descendants) for source in query.from_] or [("", False)]

    @property
    def windowed(self) -> bool:
        """Whether a document's place depends on others."""
        return self.limit is not None or self.offset > 0

    def collections(self) -> Iterator[str]:
        """Yield the collections it looks into, as far as they have ever held anything."""
        history, prefix = self._history, f"{self._parent}/"
        for kind, descendants in self.sources:
            if kind and not descendants:
                yield prefix + kind
                continue
            candidates = history.groups.get(kind, ()) if kind else history.collections
            for collection in candidates:
                if collection.startswith(prefix) and (descendants or "/" not in collection.removeprefix(prefix)):
                    yield collection

    @property
    def places(self) -> set[str]:
        """What a contender for this query's result queues for."""
        return {
            EVERYWHERE if not kind else group_place(kind) if descendants else f"{self._parent}/{kind}"
            for kind, descendants in self.sources
        }

    def covers(self, name: str) -> bool:
        """Return whether a document lies where this query looks."""
        collection = collection_of(name)
        parent, last = collection.rsplit("/", 1)
        return any(
            (not kind or kind == last)
            and (collection.startswith(f"{self._parent}/") if descendants else parent == self._parent)
            for kind, descendants in self.sources
        )

    def matches(self, version: Version) -> bool:
        """Return whether a version passes the filter, has every field sorted by and lies between the cursors."""
        if self._predicate is not None and not self._predicate(version):
            return False
        for path in self._needed:
            if version.key(path) is None:
                return False
        if self._start is not None:
            side = self._compare(version, self._start[0])
            if side < 0 or (side == 0 and not self._start[1]):
                return False
        if self._end is not None:
            side = self._compare(version, self._end[0])
            if side > 0 or (side == 0 and self._end[1]):
                return False
        return True

    def would_find(self, name: str, *moments: int) -> bool:
        """Return whether a document matches at any of these moments (micros)."""
        versions = [self._history.get(name, at) for at in moments]
        return any(version is not None and self.matches(version) for version in versions)

    def run(self, at: int) -> list[Version]:
        """Return the documents at a moment (micros), in order, within offset and limit."""
        end = None if self.limit is None else self.offset + self.limit
        order = self._find_order(at)
        if order is not None:
            return list(islice(filter(self.matches, order), self.offset, end))
        versions: Iterable[Version] = self._history.within(self.collections(), at)
        if self._predicate is not None or self._needed or self._start is not None or self._end is not None:
            versions = filter(self.matches, versions)
        return self._sorted(list(versions), end)[self.offset : end]

    def _find_order(self, at: int) -> Iterator[Version] | None:
        """Return those documents in order that an order of the collection has for this query; None where it has none."""
        (kind, descendants), *others = self.sources
        if others or not kind or descendants or len({turned for _, turned in self.orders}) > 1:
            return None
        need = self._need
        if need is None:
            need = self._need = self._build_need()
        if not need.equal and self.limit is None:
            return None  # all of the collection, or nearly
        order = self._history.order(f"{self._parent}/{kind}", need, at)
        return None if order is None else order.iterate(need)

    def _build_need(self) -> Need:
        """Return what the query asks an order for; whatever else it asks of a document, `matches` tells."""
        first, turned = self.orders[0]
        equal: list[tuple[str, Key]] = []
        low: list[Rank] = []
        high: list[Rank] = []
        for path, operator, value in self._required:
            operand = key(value)
            if operator == "EQUAL" and path != NAME:
                equal.append((path, operand))
            elif operator.startswith("GREATER") and path == first:
                low.append((operand,))
            elif operator.startswith("LESS") and path == first:
                high.append((operand,))
        if self._start is not None:
            (high if turned else low).append(tuple(self._start[0]))
        if self._end is not None:
            (low if turned else high).append(tuple(self._end[0]))
        return Need(
            equal=tuple(sorted(equal)),
            sorted=tuple(path for path, _ in self.orders),
            turned=turned,
            low=max(low, default=()),
            high=min(high, default=()),
        )

    def _sorted(self, versions: list[Version], most: int | None) -> list[Version]:
        """Sort the documents, or at least the first `most` of them."""
        if most and most < len(versions):
            versions = self._first(versions, most)
        directions = {turned for _, turned in self.orders}
        if len(directions) == 1:
            return sorted(versions, key=self._rank, reverse=directions.pop())
        # Sorting is stable, so the last order goes first.
        for path, turned in reversed(self.orders):
            versions.sort(key=lambda version: version.key(path) or (), reverse=turned)
        return versions

    def _first(self, versions: list[Version], most: int) -> list[Version]:
        """Return the documents that can be among the first `most`, judged by the first order alone, so that few have to be
        sorted."""
        path, turned = self.orders[0]
        keys = [version.key(path) or () for version in versions]
        edge = (heapq.nlargest if turned else heapq.nsmallest)(most, keys)[-1]
        if turned:
            return [version for version, first in zip(versions, keys, strict=True) if first >= edge]
        return [version for version, first in zip(versions, keys, strict=True) if first <= edge]

    def _rank(self, version: Version) -> list[Key | None]:
        return [version.key(path) for path, _ in self.orders]

    def _cursor(self, cursor: Any) -> tuple[list[Key], bool]:
        if len(cursor.values) > len(self.orders):
            raise invalid("A cursor has more values than the query has orders.")
        keys = [key(value) for value in cursor.values]
        for (path, _), position in zip(self.orders, keys, strict=False):
            if path == NAME and position[0] != REFERENCE:
                raise invalid("A cursor's value for __name__ must be a reference.")
        return keys, cursor.before

    def _compare(self, version: Version, position: list[Key]) -> int:
        """Return -1, 0 or 1: whether a version is before, at or after a cursor; a cursor with fewer values compares by
        those."""
        for kind, (path, turned) in zip(position, self.orders, strict=False):
            versions = version.key(path)
            assert versions is not None
            if versions != kind:
                return 1 if (versions < kind) == turned else -1
        return 0


def list_orders(query: StructuredQuery, inequalities: set[str]) -> list[tuple[str, bool]]:
    """Return (field path, descending) to sort by: the explicit ones, then each field of an inequality, then the name."""
    descending = StructuredQuery.Direction.Value("DESCENDING")
    orders = [(order.field.field_path, order.direction == descending) for order in query.order_by]
    for path, _ in orders:
        if path != NAME:
            parse(path)
    explicit = {path for path, _ in orders}
    last = orders[-1][1] if orders else False
    implied = sorted(inequalities - explicit - {NAME})
    return orders + [(path, last) for path in [*implied, *({NAME} - explicit)]]
