"""Units of measurement: pint's table (BSD, released often), with fractions as numbers.

It is imported with this module, which takes a quarter of a second: so a process imports it at its first calculation.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

from pint import UndefinedUnitError, UnitRegistry

USES_MAX = 1_000
"""Expressions after which the table is read again: it remembers each unit and conversion that it was ever asked for."""

ALIASES = {"°C": "degC", "°F": "degF", "C": "degC", "F": "degF", "K": "kelvin"}
"""What people write. pint reads C as coulomb and F as farad."""

Quantity = Any
"""A number with a unit, of pint: its own type is made for each table."""


class Units:
    """One table of units. Its quantities compute with those of the same table alone."""

    def __init__(self) -> None:
        self._registry: Any = UnitRegistry(non_int_type=Fraction, cache_folder=None)
        self.uses = 0

    def measure(self, number: Fraction | int, unit: str | None = None) -> Quantity:
        """Return `number` of a unit, by its name, symbol or plural, or a number without one. Raise `UndefinedUnitError`."""
        names = {} if unit is None else {self._registry.get_name(ALIASES.get(unit, unit)): 1}
        return self._registry.Quantity(Fraction(number), self._registry.UnitsContainer(names))


class _Table:
    """The one table of this process, and who uses it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.units: Units | None = None


_TABLE = _Table()


@contextmanager
def open_units() -> Iterator[Units]:
    """Yield the table for one expression; others wait."""
    with _TABLE.lock:
        if _TABLE.units is None or _TABLE.units.uses >= USES_MAX:
            _TABLE.units = Units()
        _TABLE.units.uses += 1
        yield _TABLE.units


def describe_unit(quantity: Quantity) -> str:
    """Return the quantity's unit in words, such as `kilometer / hour` or `meter^2`; empty for a plain number."""
    over = [_describe_power(name, power) for name, power in quantity.unit_items() if power > 0]
    under = [_describe_power(name, -power) for name, power in quantity.unit_items() if power < 0]
    text = " * ".join(over) or ("1" if under else "")
    return " / ".join((text, *under))


def _describe_power(name: str, power: Fraction) -> str:
    return name if power == 1 else f"{name}^{power}" if Fraction(power).denominator == 1 else f"{name}^({power})"


__all__ = ["Quantity", "UndefinedUnitError", "Units", "describe_unit", "open_units"]
