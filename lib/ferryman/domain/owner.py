"""Owners: whose tasks they are, on which plan, with how many credits left this month."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """One owner. `credits_used` are of `month` (UTC, "2026-11"), and of an older one count as nothing.

    `credits_reserved` are held by executions under way, whatever month they began in.
    """

    id: str
    plan: str
    month: str = ""
    credits_used: Decimal = Decimal(0)
    credits_reserved: Decimal = Decimal(0)
    created_at: datetime


def month_of(moment: datetime) -> str:
    """The credit month `moment` (UTC) falls in."""
    return moment.strftime("%Y-%m")
