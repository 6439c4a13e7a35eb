"""Ordered: the current documents of a collection by some fields and in an order, so that a page is read without all the others.

Which documents a query means is decided by the query alone (`Query.matches`); what is here only leaves out those that cannot be
meant, and ends where enough were found. A small collection is read as a whole.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from .values import Key

LARGE = 200
"""Documents from which on a collection is worth an order of its own."""

ORDERS_MAX = 32
"""Orders of one collection, beyond which the first one is forgotten."""

Rank = tuple[Key, ...]


class SortableVersion(Protocol):
    """A version of a document, which has the sort keys of its fields."""

    @property
    def document(self) -> Any: ...

    def key(self, path: str, /) -> Key | None: ...


Version = TypeVar("Version", bound=SortableVersion)


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What a query asks an order for: documents with these keys in the fields `equal`, sorted by the fields `sorted`."""

    equal: tuple[tuple[str, Key], ...]
    sorted: tuple[str, ...]
    turned: bool
    low: Rank = ()
    """A prefix of ranks that none is before, in the order of the fields; empty: none."""
    high: Rank = ()
    """Likewise the last."""


@dataclass(slots=True)
class DocumentOrder(Generic[Version]):
    """Documents by the keys of some fields, each group in the order of others."""

    equal: tuple[str, ...]
    sorted: tuple[str, ...]
    groups: dict[Rank, list[tuple[Rank, Version]]] = field(default_factory=dict, repr=False)

    def replace(self, before: Version | None, after: Version | None) -> None:
        """Put `after` in the place of `before`."""
        for version, is_new in ((before, False), (after, True)):
            place = None if version is None or version.document is None else self._locate(version)
            if version is None or place is None:
                continue
            group = self.groups.setdefault(place[0], [])
            at = bisect_left(group, place[1], key=_get_rank)
            if is_new:
                group.insert(at, (place[1], version))
            else:
                del group[at]
            if not group:
                del self.groups[place[0]]

    def iterate(self, need: Need) -> Iterator[Version]:
        """Yield the documents of a group within the bounds, in order."""
        group = self.groups.get(tuple(key for _, key in need.equal), [])
        low, high = need.low, need.high
        start = bisect_left(group, low, key=lambda entry: entry[0][: len(low)]) if low else 0
        end = bisect_right(group, high, key=lambda entry: entry[0][: len(high)]) if high else len(group)
        for at in range(end - 1, start - 1, -1) if need.turned else range(start, end):
            yield group[at][1]

    def _locate(self, version: Version) -> tuple[Rank, Rank] | None:
        """Return the group of a document and its rank there, or None where it lacks one of the fields."""
        group = [version.key(path) for path in self.equal]
        rank = [version.key(path) for path in self.sorted]
        if None in group or None in rank:
            return None
        return tuple(key for key in group if key is not None), tuple(key for key in rank if key is not None)


class DocumentOrders(Generic[Version]):
    """The orders of one collection that queries have needed so far."""

    def __init__(self) -> None:
        self._orders: dict[tuple[tuple[str, ...], tuple[str, ...]], DocumentOrder[Version]] = {}

    def get(self, need: Need, current: Iterator[Version]) -> DocumentOrder[Version]:
        """Return the order for a need, made of the `current` documents where there is none yet."""
        paths = tuple(path for path, _ in need.equal), need.sorted
        if paths not in self._orders:
            if len(self._orders) >= ORDERS_MAX:
                del self._orders[next(iter(self._orders))]
            order = self._orders[paths] = DocumentOrder[Version](*paths)
            for version in current:
                order.replace(None, version)
        return self._orders[paths]

    def replace(self, before: Version | None, after: Version) -> None:
        """Put a document's new version, or nothing, in the place of the one before."""
        for order in self._orders.values():
            order.replace(before, after)


def _get_rank(entry: tuple[Rank, Any]) -> Rank:
    return entry[0]
