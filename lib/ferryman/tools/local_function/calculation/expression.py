"""Expressions: a grammar read by recursive descent, so that nothing of a text is ever evaluated as code.

expression := sum [("to" | "in" | "as") (product | offset | "UTC")]
sum        := product {("+" | "-") product}
product    := signed {("*" | "/" | "mod" | "of") signed}
signed     := {"+" | "-"} power
power      := operand ["^" signed]
operand    := number ["%" | unit ["^" signed]] | date | moment | constant | unit | call | "(" expression ")"
call       := name "(" [sum {"," sum}] ")"
"""

from __future__ import annotations

import re
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from ferryman.tools.local_function.calculation import functions
from ferryman.tools.local_function.calculation.dates import move_to_offset, read_date
from ferryman.tools.local_function.calculation.errors import CalculationError
from ferryman.tools.local_function.calculation.units import UndefinedUnitError, Units
from ferryman.tools.local_function.calculation.values import (
    calculate,
    convert,
    expect_number,
    raise_to,
    round_value,
)

DEPTH_MAX = 50
"""How deep brackets, signs and powers may be nested."""

NUMBER_CHARACTERS_MAX = 500
"""Of one number in the text, its exponent included."""

CONSTANTS = {
    "pi": "3.14159265358979323846264338327950288419716939937510",
    "e": "2.71828182845904523536028747135266249775724709369995",
}

_TOKEN = re.compile(
    r"(?P<space>\s+)"
    r"|(?P<date>\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:\d{2})?)?(?![\w.:]))"
    r"|(?P<offset>[+-]\d{2}:\d{2}(?![\w.:]))"
    r"|(?P<number>(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3}(?!\w))?)"
    r"|(?P<name>[^\W\d]\w*|°[CF]|µ\w+)"
    r"|(?P<symbol>\*\*|[-+*/^%(),·×÷−–])"
)
_SAME = {"**": "^", "·": "*", "×": "*", "÷": "/", "−": "-", "–": "-"}
_SUPERSCRIPTS = str.maketrans({"²": "^2", "³": "^3"})
_CONVERSIONS = ("to", "in", "as")
_NO_UNITS = ("to", "as", "of", "mod")  # but `5 in` are inches
_PRODUCTS = {"*": "*", "/": "/", "mod": "mod", "of": "*"}


class Lexeme(NamedTuple):
    """A piece of the text, and what it is: date, offset, number, name, symbol, or end."""

    kind: str
    text: str


def evaluate(text: str, units: Units, *, now: datetime) -> Any:
    """Return the value of an expression: a quantity of `units`, a date or a moment. Raise `CalculationError`."""
    reader = _Reader(_split(text), units, now)
    value = reader.read_expression()
    reader.expect_end()
    return value


def _split(text: str) -> list[Lexeme]:
    tokens, at, text = [], 0, text.translate(_SUPERSCRIPTS)
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise CalculationError(f"{text[at]!r} has no meaning here")
        at = match.end()
        kind, piece = str(match.lastgroup), match.group()
        if kind != "space":
            tokens.append(Lexeme(kind, _SAME.get(piece, piece)))
    return [*tokens, Lexeme("end", "the end")]


class _Reader:
    """Reads one expression. Each method returns a value, and leaves off at the first token that is not part of it."""

    def __init__(self, tokens: list[Lexeme], units: Units, now: datetime) -> None:
        self._tokens, self._units, self._now = tokens, units, now
        self._at = self._depth = 0

    @property
    def _next(self) -> Lexeme:
        return self._tokens[self._at]

    def _take(self, *texts: str) -> str | None:
        if self._next.text in texts and self._next.kind in ("symbol", "name"):
            self._at += 1
            return self._tokens[self._at - 1].text
        return None

    def expect_end(self) -> None:
        if self._next.kind != "end":
            raise CalculationError(f"{self._next.text!r} was not expected there")

    def read_expression(self) -> Any:
        value = self._read_sum()
        while self._take(*_CONVERSIONS):
            value = self._move(value) if isinstance(value, datetime) else convert(value, self._read_product())
        return value

    def _move(self, moment: datetime) -> datetime:
        """Return the same moment at the offset that follows."""
        token = self._next
        if token.kind != "offset" and token.text != "UTC":
            raise CalculationError("a moment is converted to an offset from UTC, such as +09:00, or to UTC")
        self._at += 1
        return move_to_offset(moment, token.text)

    def _read_sum(self) -> Any:
        value = self._read_product()
        while symbol := self._take("+", "-"):
            value = calculate(symbol, value, self._read_product(), self._units)
        return value

    def _read_product(self) -> Any:
        value = self._read_signed()
        while symbol := self._take(*_PRODUCTS):
            value = calculate(_PRODUCTS[symbol], value, self._read_signed(), self._units)
        return value

    def _read_signed(self) -> Any:
        self._enter()
        if symbol := self._take("+", "-"):
            value = calculate("*", self._units.measure(-1 if symbol == "-" else 1), self._read_signed(), self._units)
        else:
            value = self._read_power()
        self._depth -= 1
        return value

    def _read_power(self) -> Any:
        value = self._read_operand()
        return raise_to(value, self._read_signed(), self._units) if self._take("^") else value

    def _read_operand(self) -> Any:
        token = self._next
        self._at += 1
        if token.kind == "number":
            return self._read_unit_of(self._units.measure(_read_number(token.text)))
        if token.kind == "date":
            return read_date(token.text)
        if token.kind == "name":
            return self._read_name(token.text)
        if token.text == "(":
            self._enter()
            value = self.read_expression()
            self._close()
            self._depth -= 1
            return self._read_unit_of(value, before=(*_NO_UNITS, "in"))
        self._at -= 1
        raise CalculationError(f"expected a number, a unit or a date before {token.text}")

    def _read_unit_of(self, value: Any, *, before: tuple[str, ...] = _NO_UNITS) -> Any:
        """Return `value` with the unit that follows it, if one does: any name but those in `before`, and no function."""
        if self._take("%"):
            return calculate("/", value, self._units.measure(100), self._units)
        token = self._next
        if token.text in CONSTANTS and token.kind == "name":  # 2 pi
            self._at += 1
            return calculate("*", value, self._read_name(token.text), self._units)
        if token.kind != "name" or token.text in before or self._tokens[self._at + 1].text == "(":
            return value
        self._at += 1
        unit = self._measure(token.text)
        if self._take("^"):  # 5 m^2 is an area, not the square of a length
            unit = raise_to(unit, self._read_signed(), self._units)
        number = expect_number(value, f"the value before {token.text}")
        return unit.__class__(number * Fraction(unit.magnitude), unit.units)  # degrees cannot be multiplied

    def _read_name(self, name: str) -> Any:
        if self._take("("):
            self._enter()
            arguments = [] if self._next.text == ")" else [self._read_sum()]
            while self._take(","):
                arguments.append(self._read_sum())
            self._close()
            self._depth -= 1
            return functions.call(name, arguments, self._units)
        if name in ("today", "now"):
            return self._now.date() if name == "today" else self._now
        if name in CONSTANTS:
            return self._units.measure(round_value(Decimal(CONSTANTS[name])))
        return self._measure(name)

    def _measure(self, unit: str) -> Any:
        try:
            return self._units.measure(1, unit)
        except UndefinedUnitError:
            raise CalculationError(f"{unit!r} is no unit, and no function") from None

    def _enter(self) -> None:
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise CalculationError(f"more than {DEPTH_MAX} brackets, signs and powers are nested in each other")

    def _close(self) -> None:
        if not self._take(")"):
            raise CalculationError(f"expected ')' before {self._next.text}")


def _read_number(text: str) -> Fraction:
    if len(text) > NUMBER_CHARACTERS_MAX:
        raise CalculationError(f"a number is longer than {NUMBER_CHARACTERS_MAX} characters")
    return Fraction(Decimal(text.replace("_", "")))
