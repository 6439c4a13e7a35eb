"""Pages of what is in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from ferryman.domain.executions.execution import Execution
from ferryman.domain.page import Page, Position
from ferryman.domain.tasks.task import Task

Item = TypeVar("Item", Execution, Task)


def locate(item: Execution | Task) -> Position:
    """Return where `item` is in a list by time."""
    return Position(item.created_at, item.id)


def cut_page(items: Sequence[Item], most: int) -> Page[Item]:
    """Return the first `most` of `items`."""
    here = tuple(items[:most])
    return Page(items=here, end=locate(here[-1]) if len(items) > most else None)
