"""Changes of what is stored: any two states of a value differ in when it was changed, also those of one moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Protocol, TypeVar

_TICK = timedelta(microseconds=1)


class Changeable(Protocol):
    """A frozen dataclass that says when it was changed last: a task, a workspace or an agent."""

    @property
    def updated_at(self) -> datetime: ...


Value = TypeVar("Value", bound=Changeable)


def change_value(value: Value, changes: Mapping[str, Any], *, now: datetime) -> Value:
    """Return `value` with the fields of `changes`, changed `now`, or a tick after its last change if that is later."""
    fields = {**changes, "updated_at": max(now, value.updated_at + _TICK)}
    return replace(value, **fields)  # type: ignore[type-var] # a dataclass
