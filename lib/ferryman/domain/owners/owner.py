"""Owners of tasks, each on a plan."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """One owner; the credits are in the owner's balance."""

    id: str
    plan: str
    created_at: datetime
