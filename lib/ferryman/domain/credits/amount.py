"""Amounts of credits as people and records read them."""

from __future__ import annotations

from decimal import Decimal


def format_credits(amount: Decimal) -> str:
    """Return an amount of credits in digits, without an exponent or trailing zeros."""
    return f"{amount.normalize():f}"
