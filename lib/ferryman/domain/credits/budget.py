"""Budgets: what the parts of an owner's balance have used and reserved of their caps, row by row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from ferryman.domain.credits.balance import CreditBalance
from ferryman.domain.owners.cap import Cap, CapKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgeted:
    """Something that may have a cap: `id` is that of the part in which it is counted, `limit` None without a cap."""

    kind: CapKind
    id: str
    name: str
    limit: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CreditBudget:
    """A row: the credits that are used and reserved in the month. What has no limit has no rest and no share of it."""

    kind: CapKind
    id: str
    name: str
    limit: Decimal | None
    credits_used: Decimal
    credits_reserved: Decimal

    @property
    def credits_left(self) -> Decimal | None:
        """What can still be reserved; never below 0, since a cap may be lowered below what is used."""
        return None if self.limit is None else max(Decimal(0), self.limit - self.credits_used - self.credits_reserved)

    @property
    def percent_used(self) -> int | None:
        """How much of the limit is used, in percent, rounded down: 100 only where all of it is."""
        return None if not self.limit else int(self.credits_used * 100 / self.limit)


def list_budgets(balance: CreditBalance, things: Iterable[Budgeted]) -> list[CreditBudget]:
    """Return the rows of those `things` that have a cap or are counted in `balance`, in their order."""
    rows = []
    for thing in things:
        counts = balance.get_part(Cap(kind=thing.kind, id=thing.id, credits=thing.limit or Decimal(0)))
        if thing.limit is None and not counts.credits_used and not counts.credits_reserved:
            continue
        rows.append(
            CreditBudget(
                kind=thing.kind,
                id=thing.id,
                name=thing.name,
                limit=thing.limit,
                credits_used=counts.credits_used,
                credits_reserved=counts.credits_reserved,
            )
        )
    return rows
