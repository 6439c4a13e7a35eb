"""The plans: as shipped, and as the operator's settings extend them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from decimal import Decimal
from typing import Any

from ferryman.domain.owners.plan import PLANS, Plan
from ferryman.settings import MisconfiguredError


def load_plans(rows: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Plan]:
    """Return the shipped plans with those of `rows` (FERRYMAN_PLANS), by name; a row may start `like` another plan."""
    plans = dict(PLANS)
    for name, row in rows.items():
        plans[name] = _parse(name, dict(row), plans)
    return plans


def _parse(name: str, row: dict[str, Any], plans: Mapping[str, Plan]) -> Plan:
    like = plans.get(row.pop("like", ""))
    kinds = {field.name: Decimal if field.name.startswith("credits") else int for field in fields(Plan) if field.name != "name"}
    try:
        values = {field: kinds[field](value) for field, value in row.items()}
        defaults = {field: getattr(like, field) for field in kinds} if like else {}
        return Plan(name=name, **{**defaults, **values})
    except (KeyError, TypeError, ValueError, ArithmeticError) as error:
        needed = ", ".join(kinds)
        raise MisconfiguredError(f"FERRYMAN_PLANS: plan {name!r} must give {needed} as numbers, or be like another") from error
