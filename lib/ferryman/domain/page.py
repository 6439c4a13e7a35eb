"""Pages: a part of a list at a time, each beginning where the one before ended, whatever was added or removed meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in a list by time: after what was created `at` this moment with this `id`."""

    at: datetime
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[Item]):
    """At most as many items as were asked for. The next page begins after `end`; None: there is none."""

    items: tuple[Item, ...]
    end: Position | None = None

    def __iter__(self) -> Iterator[Item]:
        return iter(self.items)
