"""Former values of a credential that was stored again, renewed or deleted.

Every text is scanned for them, as for the present value, and they are never sent: the service may still accept them, an
upstream may have kept them, and a running execution may have read them in some encoding.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from ferryman.domain.credentials.credential import SealedCredential

KNOWN = timedelta(days=1)  # for how long after its end texts are scanned for a value
FORMER_MAX = 5
"""How many values of one credential are kept, the newest: each takes time to open and to scan for in every call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormerValue:
    """A value at rest that texts are scanned for until `until`; it is used for nothing else."""

    sealed: SealedCredential
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
        return min(value.sealed.key_version for value in self.values)

    @property
    def until(self) -> datetime:
        """When texts are no longer scanned for any of them; `values` must not be empty."""
        return max(value.until for value in self.values)


def add_former(before: FormerValues | None, ended: SealedCredential, *, now: datetime) -> FormerValues:
    """Return `before` with the value that ended `now`, and without those that have expired."""
    current = select_current(before.values if before is not None else (), now)
    values = (FormerValue(sealed=ended, until=now + KNOWN), *current)[:FORMER_MAX]
    return FormerValues(task=ended.label.task, name=ended.label.name, values=values)


def select_current(values: Iterable[FormerValue], now: datetime) -> tuple[FormerValue, ...]:
    """Return the values that have not expired at `now`."""
    return tuple(value for value in values if now < value.until)


def replace_sealed(former: FormerValues, opened: Iterable[tuple[FormerValue, SealedCredential]]) -> FormerValues:
    """Return `former` with only the values in `opened`, each with the sealed credential it is paired with."""
    return replace(former, values=tuple(replace(value, sealed=sealed) for value, sealed in opened))
