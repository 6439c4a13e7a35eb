"""The functions of the calculator, by name."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from fractions import Fraction
from functools import partial
from typing import Any

from ferryman.tools.local_function.calculation.angles import compute_cosine, compute_sine, compute_tangent
from ferryman.tools.local_function.calculation.errors import CalculationError
from ferryman.tools.local_function.calculation.units import Units
from ferryman.tools.local_function.calculation.values import (
    ROUNDED,
    calculate,
    check_size,
    expect_number,
    from_decimal,
    take_root,
    to_decimal,
)

Function = Callable[[Sequence[Any], Units], Any]


FACTORIAL_MAX = 900


def call(name: str, arguments: Sequence[Any], units: Units) -> Any:
    """Return what the function makes of its arguments. Raise `CalculationError`."""
    if name not in FUNCTIONS:
        raise CalculationError(f"there is no function {name}; there are {', '.join(sorted(FUNCTIONS))}")
    return FUNCTIONS[name](arguments, units)


def _of_number(name: str, function: Callable[[Fraction], Fraction | int], arguments: Sequence[Any], units: Units) -> Any:
    (value,) = _expect_count(name, arguments, 1)
    return units.measure(function(expect_number(value, f"the argument of {name}")))


def _log(base_ten: bool, number: Fraction) -> Fraction:
    if number <= 0:
        raise CalculationError("only a number above zero has a logarithm")
    rounded = to_decimal(number)
    return from_decimal(ROUNDED.log10(rounded) if base_ten else ROUNDED.ln(rounded))


def _log2(number: Fraction) -> Fraction:
    if number > 0:
        over, under = number.numerator, number.denominator
        if over & (over - 1) == 0 and under & (under - 1) == 0:  # a power of two has an exact one
            return Fraction(over.bit_length() - under.bit_length())
    return from_decimal(ROUNDED.divide(to_decimal(_log(False, number)), to_decimal(_log(False, Fraction(2)))))


def _factorial(number: Fraction) -> int:
    if number.denominator != 1 or not 0 <= number <= FACTORIAL_MAX:
        raise CalculationError(f"factorial takes a whole number from 0 to {FACTORIAL_MAX}")
    return math.factorial(int(number))


def _of_whole(name: str, function: Callable[..., int], neutral: int, arguments: Sequence[Any], units: Units) -> Any:
    if not arguments:
        raise CalculationError(f"{name} needs at least one argument")
    result = units.measure(neutral)
    for value in arguments:
        number = expect_number(value, f"an argument of {name}")
        if number.denominator != 1:
            raise CalculationError(f"{name} takes whole numbers")
        result = check_size(units.measure(function(int(result.magnitude), int(number))))  # each is bounded, and so is the next
    return result


def _of_angle(name: str, function: Callable[[Any], Fraction], arguments: Sequence[Any], units: Units) -> Any:
    (value,) = _expect_count(name, arguments, 1)
    return units.measure(function(value))


def _median(arguments: Sequence[Any], units: Units) -> Any:
    ordered = _choose("median", sorted, arguments, units)
    if isinstance(ordered[0], date):
        raise CalculationError("median takes no date")
    half = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[half]
    return calculate("/", calculate("+", ordered[half - 1], ordered[half], units), units.measure(2), units)


def _exp(number: Fraction) -> Fraction:
    return from_decimal(ROUNDED.exp(to_decimal(number)))


def _of_magnitude(name: str, function: Callable[[Fraction], Fraction | int], arguments: Sequence[Any], _: Units) -> Any:
    (value,) = _expect_count(name, arguments, 1)
    if isinstance(value, date):
        raise CalculationError(f"{name} takes no date")
    return value.__class__(Fraction(function(Fraction(value.magnitude))), value.units)


def _round(arguments: Sequence[Any], units: Units) -> Any:
    if len(arguments) == 1:
        return _of_magnitude("round", _round_half_up, arguments, units)
    value, digits = _expect_count("round", arguments, 2)
    places = expect_number(digits, "the number of digits")
    if places.denominator != 1 or abs(places) > 100:
        raise CalculationError("round takes a whole number of digits, from -100 to 100")
    scale = Fraction(10) ** int(places)
    return _of_magnitude("round", lambda number: _round_half_up(number * scale) / scale, [value], units)


def _round_half_up(number: Fraction) -> Fraction:
    """Return the nearest whole number; of two, the one further from zero, as people round."""
    return Fraction(int(abs(number) + Fraction(1, 2)) * (-1 if number < 0 else 1))


def _choose(name: str, choose: Callable[[Sequence[Any]], Any], arguments: Sequence[Any], units: Units) -> Any:
    if not arguments:
        raise CalculationError(f"{name} needs at least one argument")
    if len({isinstance(value, date) for value in arguments}) > 1:
        raise CalculationError(f"{name} cannot compare dates with numbers")
    if len({isinstance(value, datetime) for value in arguments}) > 1:
        raise CalculationError(f"{name} cannot compare a date with a moment")
    for value in arguments:  # says which units do not fit each other
        if not isinstance(value, date):
            calculate("-", value, arguments[0], units)
    return choose(arguments)


def _sum(arguments: Sequence[Any], units: Units) -> Any:
    if not arguments:
        raise CalculationError("sum needs at least one argument")
    total = arguments[0]
    for value in arguments[1:]:
        total = calculate("+", total, value, units)
    return total


def _average(arguments: Sequence[Any], units: Units) -> Any:
    return calculate("/", _sum(arguments, units), units.measure(max(len(arguments), 1)), units)


def _expect_count(name: str, arguments: Sequence[Any], count: int) -> Sequence[Any]:
    if len(arguments) != count:
        raise CalculationError(f"{name} takes {count} argument{'s' * (count > 1)}, not {len(arguments)}")
    return arguments


FUNCTIONS: Mapping[str, Function] = {
    "abs": partial(_of_magnitude, "abs", abs),
    "avg": _average,
    "ceil": partial(_of_magnitude, "ceil", math.ceil),
    "exp": partial(_of_number, "exp", _exp),
    "cos": partial(_of_angle, "cos", compute_cosine),
    "factorial": partial(_of_number, "factorial", _factorial),
    "floor": partial(_of_magnitude, "floor", math.floor),
    "gcd": partial(_of_whole, "gcd", math.gcd, 0),
    "lcm": partial(_of_whole, "lcm", math.lcm, 1),
    "ln": partial(_of_number, "ln", partial(_log, False)),
    "log10": partial(_of_number, "log10", partial(_log, True)),
    "log2": partial(_of_number, "log2", _log2),
    "max": partial(_choose, "max", max),
    "median": _median,
    "min": partial(_choose, "min", min),
    "round": _round,
    "sin": partial(_of_angle, "sin", compute_sine),
    "sqrt": partial(_of_number, "sqrt", take_root),
    "sum": _sum,
    "tan": partial(_of_angle, "tan", compute_tangent),
}
