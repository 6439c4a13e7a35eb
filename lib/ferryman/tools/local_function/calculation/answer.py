"""The answer of a calculation, as text: exact where it can be written out, else rounded and marked."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Context
from fractions import Fraction
from typing import Any

from ferryman.tools.local_function.calculation.dates import format_date
from ferryman.tools.local_function.calculation.expression import evaluate
from ferryman.tools.local_function.calculation.units import describe_unit, open_units
from ferryman.tools.local_function.calculation.values import DIGITS, take_rounded_flag, to_decimal

PLACES_MAX = 60
"""Decimal places of a number that is written out exactly."""

FRACTION_MAX = 10**6
"""The largest denominator that is shown as a fraction beside the rounded number."""

_DISPLAY = Context(prec=DIGITS)


def compute(text: str, *, now: datetime) -> str:
    """Return the value of an expression, such as `78.4 mile` or `2026-02-28`. Raise `CalculationError`. `now` is in UTC."""
    with open_units() as units:
        take_rounded_flag()
        value = evaluate(text, units, now=now)
        return format_date(value) if isinstance(value, date) else _format_quantity(value, rounded=take_rounded_flag())


def _format_quantity(quantity: Any, *, rounded: bool) -> str:
    unit = describe_unit(quantity)
    return f"{format_number(Fraction(quantity.magnitude), rounded=rounded)} {unit}".strip()


def format_number(number: Fraction, *, rounded: bool = False) -> str:
    """Return the number: whole or decimal where that is exact, else about equal, with its fraction where that is short.

    `rounded` tells that it is not exact itself.
    """
    places = None if rounded else _count_places(number.denominator)
    if places is not None:
        return _format_decimal(number, places)
    about = f"≈ {_DISPLAY.normalize(to_decimal(number)):f}"
    if rounded:
        return about
    return f"{about} ({number})" if number.denominator <= FRACTION_MAX and len(str(number)) <= DIGITS else about


def _count_places(denominator: int) -> int | None:
    """Return how many decimal places write 1/denominator out, or None where too many or none do."""
    for places in range(PLACES_MAX + 1):
        if 10**places % denominator == 0:
            return places
    return None


def _format_decimal(number: Fraction, places: int) -> str:
    digits = str(abs(number.numerator) * 10**places // number.denominator).rjust(places + 1, "0")
    whole, rest = (digits[:-places], digits[-places:]) if places else (digits, "")
    return f"{'-' * (number < 0)}{whole}{'.' * bool(rest)}{rest}"
