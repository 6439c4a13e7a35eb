"""The values of the calculator: exact quantities and dates, and what may be computed with them.

Magnitudes are fractions, so that `0.1 + 0.2` is 0.3 and `1/3*3` is 1; roots, logarithms and powers that are no whole
number are rounded.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from datetime import date
from decimal import Context, Decimal, Inexact
from fractions import Fraction
from typing import Any

from pint import DimensionalityError, OffsetUnitCalculusError

from ferryman.tools.local_function.calculation.dates import calculate_date
from ferryman.tools.local_function.calculation.errors import CalculationError
from ferryman.tools.local_function.calculation.units import Quantity, Units, describe_unit

DIGITS = 30
"""Significant digits that are shown of what cannot be exact; it is computed with some more."""

BITS_MAX = 8_192
"""Of a numerator or a denominator: about 2,400 decimal digits, so that no expression takes long."""

EXPONENT_MAX = 1_000

UNIT_POWERS_MAX = 100
"""Of a unit, all powers together, as 3 in meter^2 / second: a conversion raises its factor to them."""

ROUNDED = Context(prec=DIGITS + 10, traps=[])
"""Rounds; its flag `Inexact` tells that it did."""

OPERATIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "mod": operator.mod,
}

_TOO_LONG = "a number has more than about 2,400 digits"


def calculate(symbol: str, first: Any, second: Any, units: Units) -> Any:
    """Return what a symbol of `OPERATIONS` makes of two values. Raise `CalculationError`."""
    if isinstance(first, date) or isinstance(second, date):
        return calculate_date(symbol, first, second, units)
    try:
        return check_size(OPERATIONS[symbol](first, second))
    except DimensionalityError:
        raise CalculationError(f"{_name(first)} and {_name(second)} have different dimensions") from None
    except OffsetUnitCalculusError:
        raise CalculationError("degrees of a temperature can only be converted; compute in kelvin or delta_degC") from None
    except ZeroDivisionError:
        raise CalculationError("division by zero") from None


def raise_to(base: Any, exponent: Any, units: Units) -> Any:
    """Return `base ^ exponent`. Raise `CalculationError`."""
    power = expect_number(exponent, "an exponent")
    if isinstance(base, date):
        raise CalculationError("a date has no powers")
    if power.denominator == 1:
        whole, bits = power.numerator, _count_bits(base)
        if abs(whole) > EXPONENT_MAX or bits * abs(whole) > BITS_MAX:
            raise CalculationError(_TOO_LONG)
        _check_unit(base, times=abs(whole))
        try:
            return base**whole
        except ZeroDivisionError:
            raise CalculationError("division by zero") from None
        except OffsetUnitCalculusError:
            raise CalculationError("degrees of a temperature have no powers") from None
    number = expect_number(base, "the base of such a power")
    if number < 0:
        raise CalculationError("a negative number has no such power")
    return units.measure(from_decimal(ROUNDED.power(to_decimal(number), to_decimal(power))))


def convert(value: Any, target: Any) -> Any:
    """Return `value` in the unit of `target`, whose number is 1. Raise `CalculationError`."""
    if isinstance(value, date) or isinstance(target, date) or target.magnitude != 1:
        raise CalculationError("only a quantity can be converted, and only to a unit")
    try:
        return check_size(value.to(target.units))
    except DimensionalityError:
        raise CalculationError(f"{_name(value)} cannot be converted to {_name(target)}") from None


def expect_number(value: Any, what: str) -> Fraction:
    """Return the value as a number without a unit. Raise `CalculationError` that says `what` has to be one."""
    if isinstance(value, date) or not value.dimensionless:
        raise CalculationError(f"{what} has to be a number without a unit")
    return Fraction(value.to("").magnitude)


def check_size(value: Quantity) -> Quantity:
    """Return `value`. Raise `CalculationError` where its number or its unit is longer than allowed."""
    if _count_bits(value) > BITS_MAX:
        raise CalculationError(_TOO_LONG)
    _check_unit(value)
    return value


def to_decimal(number: Fraction) -> Decimal:
    """Return `number`, rounded where it has no end."""
    return ROUNDED.divide(Decimal(number.numerator), Decimal(number.denominator))


def round_value(number: Decimal) -> Fraction:
    """Return `number`, rounded as everything is that cannot be exact."""
    return Fraction(ROUNDED.plus(number))


def take_rounded_flag() -> bool:
    """Return whether anything was rounded since the last call, and clear the flag. Call it under the lock of `open_units`."""
    rounded = bool(ROUNDED.flags[Inexact])
    ROUNDED.clear_flags()
    return rounded


def from_decimal(number: Decimal) -> Fraction:
    """Return `number` as a fraction. Raise `CalculationError` where it is too large, or too small, to be written out."""
    if not number.is_finite() or abs(number.adjusted()) > BITS_MAX // 4:
        raise CalculationError(_TOO_LONG)
    return Fraction(number)


def take_root(number: Fraction) -> Fraction:
    """Return the square root: exact where there is one. Raise `CalculationError` below zero."""
    if number < 0:
        raise CalculationError("a negative number has no square root")
    over, under = math.isqrt(number.numerator), math.isqrt(number.denominator)
    if over * over == number.numerator and under * under == number.denominator:
        return Fraction(over, under)
    return from_decimal(ROUNDED.sqrt(to_decimal(number)))


def _count_bits(value: Quantity) -> int:
    number = Fraction(value.magnitude)
    return max(number.numerator.bit_length(), number.denominator.bit_length())


def _check_unit(value: Quantity, times: int = 1) -> None:
    if sum(abs(power) for _, power in value.unit_items()) * times > UNIT_POWERS_MAX:
        raise CalculationError(f"the powers of a unit are more than {UNIT_POWERS_MAX} together")


def _name(value: Quantity) -> str:
    return describe_unit(value) or "a plain number"
