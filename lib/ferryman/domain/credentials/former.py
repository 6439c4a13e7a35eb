"""Former values: what a credential was until it was stored again, renewed or deleted.

They are looked for in everything, as its value is, and are never sent: its service may still take them, an upstream may have
kept them, and an execution under way may have been told them in some disguise.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from ferryman.domain.credentials.credential import Sealed

KNOWN = timedelta(days=1)
"""For how long after its end a value is looked for."""

FORMER_MAX = 5
"""How many values of one credential are kept, the newest: each takes time to open and to look for in every call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormerValue:
    """A value at rest that is looked for until `until` and used for nothing else."""

    sealed: Sealed
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class FormerValues:
    """The former values of the credential `name` of `task`, the newest first, at most `FORMER_MAX`."""

    task: str
    name: str
    values: tuple[FormerValue, ...]

    @property
    def key_version(self) -> int:
        """The oldest version of the sealing key that is needed to open them all; `values` must not be empty."""
        return min(each.sealed.key_version for each in self.values)

    @property
    def until(self) -> datetime:
        """When none of them is looked for any longer; `values` must not be empty."""
        return max(each.until for each in self.values)


def add_former(before: FormerValues | None, ended: Sealed, *, now: datetime) -> FormerValues:
    """Return `before` with the value that ended `now`, without those whose time is over."""
    kept = select_current(before.values if before is not None else (), now)
    values = (FormerValue(sealed=ended, until=now + KNOWN), *kept)[:FORMER_MAX]
    return FormerValues(task=ended.label.task, name=ended.label.name, values=values)


def select_current(values: Iterable[FormerValue], now: datetime) -> tuple[FormerValue, ...]:
    """Return those that are still looked for at `now`."""
    return tuple(each for each in values if now < each.until)


def replace_sealed(former: FormerValues, opened: Iterable[tuple[FormerValue, Sealed]]) -> FormerValues:
    """Return `former` with only the values in `opened`, each sealed as it is paired."""
    return replace(former, values=tuple(replace(value, sealed=sealed) for value, sealed in opened))
