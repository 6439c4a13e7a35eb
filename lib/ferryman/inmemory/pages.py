"""Pages of what is in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import TypeVar

from ferryman.domain.executions.execution import ExecutionSummary
from ferryman.domain.page import Page, Position
from ferryman.domain.tasks.task import TaskSummary

Item = TypeVar("Item", ExecutionSummary, TaskSummary)


def locate(item: ExecutionSummary | TaskSummary) -> Position:
    """Return where `item` is in a list by time."""
    return Position(item.created_at, item.id)


def _summarize(item: Item) -> Item:
    kind = TaskSummary if isinstance(item, TaskSummary) else ExecutionSummary
    return kind(**{field.name: getattr(item, field.name) for field in fields(kind)})


def cut_page(items: Sequence[Item], most: int) -> Page[Item]:
    """Return the first `most` of `items`, with only what a list tells of each."""
    here = tuple(map(_summarize, items[:most]))
    return Page(items=here, end=locate(here[-1]) if len(items) > most else None)
