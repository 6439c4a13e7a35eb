"""Sine, cosine and tangent: exact where they are rational, of whole twelfths of a turn, and rounded elsewhere."""

from __future__ import annotations

from decimal import Context, Decimal, Inexact
from fractions import Fraction
from typing import Any

from ferryman.tools.local_function.calculation.errors import CalculationError
from ferryman.tools.local_function.calculation.values import ROUNDED, expect_number, from_decimal, to_decimal

PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803")
ANGLE_MAX = 10**9
"""Of an angle in radians: beyond it the digits of pi would not do."""

_EXACT = {0: "0", 30: "1/2", 90: "1", 150: "1/2", 180: "0", 210: "-1/2", 270: "-1", 330: "-1/2"}
_WORKING = Context(prec=90, traps=[])
_TERMS = 60

SMALLEST = 38
"""Decimal places of a sine of an angle above one radian: its own digits are not known beyond them."""


def compute_sine(angle: Any) -> Fraction:
    """Return the sine of an angle: of radians where it has no unit. Raise `CalculationError`."""
    return _compute_shifted_sine(angle, 0)


def compute_cosine(angle: Any) -> Fraction:
    """Return the cosine of an angle, as `compute_sine` does."""
    return _compute_shifted_sine(angle, 90)


def compute_tangent(angle: Any) -> Fraction:
    """Return the tangent of an angle, as `compute_sine` does. Raise `CalculationError` also where it has none."""
    divisor = compute_cosine(angle)
    if divisor == 0:
        raise CalculationError("a right angle has no tangent")
    quotient = compute_sine(angle) / divisor
    return quotient if quotient.denominator == 1 else from_decimal(to_decimal(quotient))


def _compute_shifted_sine(angle: Any, shift: int) -> Fraction:
    radians = expect_number(angle, "an angle")
    if abs(radians) > ANGLE_MAX:
        raise CalculationError(f"an angle has at most {ANGLE_MAX:,} radians")
    is_degree = str(angle.units) == "degree"
    degrees = (Fraction(angle.magnitude) + shift) % 360 if is_degree or not radians else None
    if degrees is not None and degrees in _EXACT:
        return Fraction(_EXACT[int(degrees)])
    if degrees is not None:
        part = _WORKING.divide(Decimal(degrees.numerator), Decimal(degrees.denominator * 180))
        return _round(_sum_series(_WORKING.multiply(part, PI)), places=SMALLEST)
    number = _WORKING.divide(Decimal(radians.numerator), Decimal(radians.denominator))
    shifted = _WORKING.add(number, _WORKING.divide(_WORKING.multiply(Decimal(shift), PI), Decimal(180)))
    sine_of_it = _sum_series(_WORKING.remainder(shifted, _WORKING.multiply(Decimal(2), PI)))
    return _round(sine_of_it, places=SMALLEST if abs(radians) > 1 else 2 * SMALLEST)


def _sum_series(x: Decimal) -> Decimal:
    """Return the sine of x, whose absolute value is below seven, by its series."""
    square = _WORKING.minus(_WORKING.multiply(x, x))
    total = term = x
    for number in range(1, _TERMS):
        term = _WORKING.divide(_WORKING.multiply(term, square), Decimal(2 * number * (2 * number + 1)))
        total = _WORKING.add(total, term)
    return total


def _round(value: Decimal, *, places: int) -> Fraction:
    """Return `value` rounded to `places` decimal places, and mark the calculation as rounded, also where that leaves zero."""
    ROUNDED.flags[Inexact] = True
    return Fraction(ROUNDED.plus(value.quantize(Decimal(1).scaleb(-places), context=_WORKING)))
