"""Dates and moments: what may be computed with them. A moment is a date and a time with its offset from UTC (RFC 3339)."""

from __future__ import annotations

import calendar
from datetime import UTC, date, datetime, timedelta, timezone
from fractions import Fraction
from typing import Any

from pint import DimensionalityError

from ferryman.tools.local_function.calculation.errors import CalculationError
from ferryman.tools.local_function.calculation.units import Quantity, Units, describe_unit

_CALENDAR = {"month": 1, "year": 12}


def read_date(text: str) -> date:
    """Return the date or the moment of ISO 8601. Raise `CalculationError`, also for a time without its offset."""
    try:
        value = datetime.fromisoformat(text) if "T" in text else date.fromisoformat(text)
    except ValueError:
        raise CalculationError(f"{text} is no {'moment' if 'T' in text else 'date'}") from None
    if isinstance(value, datetime) and value.tzinfo is None:
        raise CalculationError(f"{text} needs its offset from UTC, such as Z or +01:00")
    return value


def format_date(value: date) -> str:
    """Return a date, or a moment with its offset, as ISO 8601 writes it."""
    return value.isoformat(timespec="seconds").replace("+00:00", "Z") if isinstance(value, datetime) else value.isoformat()


def move_to_offset(moment: datetime, offset: str) -> datetime:
    """Return the same moment at another `offset` from UTC: `+09:00`, or `UTC`. Raise `CalculationError`."""
    hours, minutes = (0, 0) if offset == "UTC" else (int(offset[1:3]), int(offset[4:6]))
    if hours > 23 or minutes > 59:
        raise CalculationError(f"{offset} is no offset from UTC")
    difference = timedelta(hours=hours, minutes=minutes) * (-1 if offset.startswith("-") else 1)
    try:
        return moment.astimezone(timezone(difference) if difference else UTC)
    except OverflowError:
        raise CalculationError("the date is not between the years 1 and 9999") from None


def calculate_date(symbol: str, first: Any, second: Any, units: Units) -> Any:
    """Return what a symbol makes of two values of which one at least is a date or a moment. Raise `CalculationError`."""
    if isinstance(first, date) and isinstance(second, date):
        if symbol != "-":
            raise CalculationError("of two dates, only the difference can be computed")
        if isinstance(first, datetime) and isinstance(second, datetime):
            return units.measure(Fraction((first - second) // timedelta(microseconds=1), 1_000_000), "second")
        if isinstance(first, datetime) or isinstance(second, datetime):
            raise CalculationError(
                "a date cannot be subtracted from a moment, nor a moment from a date: give both a time, or none"
            )
        return units.measure((first - second).days, "day")
    if symbol not in "+-" or (isinstance(second, date) and symbol == "-"):
        raise CalculationError("only a span of time can be added to a date or subtracted from it")
    day, span = (first, second) if isinstance(first, date) else (second, first)
    try:
        return _move(day, span if symbol == "+" else -span)
    except OverflowError:
        raise CalculationError("the date is not between the years 1 and 9999") from None


def _move(day: date, span: Quantity) -> date:
    """Return the date `span` later. Months and years are those of the calendar: its last day stays the last at most."""
    months = _CALENDAR.get(str(span.units))
    is_moment = isinstance(day, datetime)
    try:
        unit = "second" if is_moment else "day"
        whole = Fraction(span.magnitude) * months if months else Fraction(span.to(unit).magnitude)
    except DimensionalityError:
        raise CalculationError(f"{describe_unit(span) or 'a plain number'} is not a span of time") from None
    if whole.denominator != 1:
        raise CalculationError(f"a {'moment' if is_moment else 'date'} moves by whole {unit}s or months")
    if not months:
        return day + (timedelta(seconds=whole.numerator) if is_moment else timedelta(days=whole.numerator))
    year, month = divmod(day.year * 12 + day.month - 1 + whole.numerator, 12)
    if not 1 <= year <= 9999:
        raise OverflowError
    return day.replace(year=year, month=month + 1, day=min(day.day, calendar.monthrange(year, month + 1)[1]))
