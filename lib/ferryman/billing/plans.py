"""The plans: as shipped, and as the operator's settings extend them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from decimal import Decimal
from typing import Any

from ferryman.domain.owners.plan import PLANS, Plan
from ferryman.domain.tools.names import is_tool_name
from ferryman.settings import MisconfiguredError


def load_plans(rows: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Plan]:
    """Return the shipped plans with those of `rows` (FERRYMAN_PLANS), by name; a row may start `like` another plan."""
    plans = dict(PLANS)
    for name, row in rows.items():
        plans[name] = _parse(name, dict(row), plans)
    return plans


def _parse(name: str, row: dict[str, Any], plans: Mapping[str, Plan]) -> Plan:
    like = plans.get(row.pop("like", ""))
    kinds: dict[str, Callable[[Any], Any]] = {
        field.name: Decimal if field.name.startswith("credits") else int for field in fields(Plan) if field.name != "name"
    }
    needed, kinds["tools"] = ", ".join(name for name in kinds if name != "tools"), _read_tools
    try:
        values = {field: kinds[field](value) for field, value in row.items()}
        defaults = {field: getattr(like, field) for field in kinds} if like else {}
        return Plan(name=name, **{**defaults, **values})
    except (KeyError, TypeError, ValueError, ArithmeticError) as error:
        raise MisconfiguredError(
            f"FERRYMAN_PLANS: plan {name!r} must give {needed} as numbers, or be like another; tools is a list of names"
        ) from error


def _read_tools(names: Any) -> tuple[str, ...]:
    """Return the names of a list of tools. Raise TypeError or ValueError for anything else."""
    if not isinstance(names, list) or not all(isinstance(name, str) and is_tool_name(name) for name in names):
        raise ValueError("no list of names of tools")
    return tuple(names)
