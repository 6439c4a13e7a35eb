"""Tables: plans, prices and integrations, as shipped and as the operator's settings extend them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from decimal import Decimal
from typing import Any

from ferryman.domain.plan import PLANS, Plan
from ferryman.settings import Misconfigured, Settings


def plans(settings: Settings) -> Mapping[str, Plan]:
    """The shipped plans, with those of FERRYMAN_PLANS; a row may start `like` another and change some of its fields."""
    known = dict(PLANS)
    for name, row in settings.plans.items():
        known[name] = _plan(name, dict(row), known)
    return known


def _plan(name: str, row: dict[str, Any], known: Mapping[str, Plan]) -> Plan:
    like = known.get(row.pop("like", ""))
    kinds = {each.name: Decimal if each.name.startswith("credits") else int for each in fields(Plan) if each.name != "name"}
    try:
        given = {field: kinds[field](value) for field, value in row.items()}
        start = {field: getattr(like, field) for field in kinds} if like else {}
        return Plan(name=name, **{**start, **given})
    except (KeyError, TypeError, ValueError, ArithmeticError) as error:
        needed = ", ".join(kinds)
        raise Misconfigured(f"FERRYMAN_PLANS: plan {name!r} must give {needed} as numbers, or be like another") from error
