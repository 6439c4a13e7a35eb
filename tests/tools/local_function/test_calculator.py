"""The calculator: exact values, units and dates; and nothing that a text could make it do besides."""

from __future__ import annotations

import operator
from datetime import UTC, date, datetime, timedelta, timezone
from fractions import Fraction
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.catalog.tools import TOOLS
from ferryman.domain.calls.call import ToolCall
from ferryman.tools.local_function.calculation.answer import compute, format_number
from ferryman.tools.local_function.calculation.errors import CalculationError
from ferryman.tools.local_function.calculator import calculator
from ferryman.tools.local_function.execute import execute
from ferryman.tools.local_function.registry import TOOL_REGISTRY, TOOL_SCHEMAS

NOW = datetime(2026, 11, 23, 8, 30, tzinfo=UTC)


def calculate(text: str) -> str:
    return compute(text, now=NOW)


def answer(text: str) -> str:
    """Return the value, or the explanation why there is none."""
    try:
        return calculate(text)
    except CalculationError as error:
        return str(error)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.1 + 0.2", "0.3"),
        ("1/3*3", "1"),
        ("1/3", "≈ 0.333333333333333333333333333333 (1/3)"),
        ("1_000 * 2", "2000"),
        ("-2^2", "-4"),
        ("2^-2", "0.25"),
        ("2**3**2", "512"),
        ("7 - 2 - 1", "4"),
        ("2 + 3 × 4 ÷ 6", "4"),
        ("10 mod 4", "2"),
        ("15% of 80", "12"),
        ("-5%", "-0.05"),
        ("1e-3", "0.001"),
        ("((1))", "1"),
        ("(2 + 3)%", "0.05"),
        ("pi", "≈ 3.14159265358979323846264338328"),
        ("sqrt(9/4)", "1.5"),
        ("sqrt(2)", "≈ 1.41421356237309504880168872421"),
        ("ln(e)", "≈ 1"),
        ("log10(1000)", "3"),
        ("exp(0)", "1"),
        ("round(2/3, 4)", "0.6667"),
        ("round(2.5)", "3"),
        ("round(-2.5)", "-3"),
        ("round(1234, -2)", "1200"),
        ("floor(-1.5) + ceil(1.2) + abs(-3)", "3"),
        ("avg(1, 2, 6)", "3"),
        ("sum(1, 2, 3)", "6"),
        ("max(1, 3, 2) - min(3, 1)", "2"),
        ("median(3, 1, 2)", "2"),
        ("median(1 km, 500 m)", "750 meter"),
        ("gcd(12, 18) + lcm(4, 6)", "18"),
        ("factorial(20)", "2432902008176640000"),
        ("factorial(0)", "1"),
        ("log2(1024)", "10"),
        ("log2(1/8)", "-3"),
        ("log2(10)", "≈ 3.32192809488736234787031942949"),
        ("sin(30 deg)", "0.5"),
        ("cos(120 deg)", "-0.5"),
        ("cos(-60 deg)", "0.5"),
        ("tan(0)", "0"),
        ("sin(1)", "≈ 0.84147098480789650665250232163"),
        ("cos(1)", "≈ 0.540302305868139717400936607443"),
        ("tan(1)", "≈ 1.55740772465490223050697480746"),
        ("sin(45 deg)", "≈ 0.707106781186547524400844362105"),
        ("sin(pi)", "≈ 0"),
        ("sin(1e9)", "≈ 0.545843449448699564244387270898"),
        ("2 pi", "≈ 6.28318530717958647692528676656"),
        ("(1 + 1) e", "≈ 5.43656365691809047072057494271"),
        ("5 – 2", "3"),
    ],
)
def test_numbers(text: str, value: str) -> None:
    assert calculate(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("60 mph to km/h", "96.56064 kilometer / hour"),
        ("5 in to cm", "12.7 centimeter"),
        ("5 km in m", "5000 meter"),
        ("20 °C in °F", "68 degree_Fahrenheit"),
        ("100 kB to MiB", "0.095367431640625 mebibyte"),
        ("5 m^2 to cm²", "50000 centimeter^2"),
        ("3 m * 4 m", "12 meter^2"),
        ("1 / (2 s)", "0.5 1 / second"),
        ("max(3 km, 1 mile)", "3 kilometer"),
        ("30 min to s", "1800 second"),
        ("2 h + 30 min", "2.5 hour"),
        ("km / m", "1 kilometer / meter"),
        ("(2 + 3) km in m", "5000 meter"),
        ("(5 km) in m", "5000 meter"),
    ],
)
def test_units(text: str, value: str) -> None:
    assert calculate(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2026-01-31 + 1 month", "2026-02-28"),
        ("2024-02-29 - 1 year", "2023-02-28"),
        ("2026-11-23 + 2 weeks", "2026-12-07"),
        ("48 h + 2026-11-23", "2026-11-25"),
        ("2026-12-25 - today", "32 day"),
        ("max(2026-01-01, today)", "2026-11-23"),
        ("now", "2026-11-23T08:30:00Z"),
        ("now + 90 min", "2026-11-23T10:00:00Z"),
        ("now to +09:00", "2026-11-23T17:30:00+09:00"),
        ("now in -03:30", "2026-11-23T05:00:00-03:30"),
        ("2026-12-25T10:00+01:00 to UTC", "2026-12-25T09:00:00Z"),
        ("2026-12-25T10:00+01:00 - 2026-12-25T10:00Z", "-3600 second"),
        ("2026-12-25T10:00:30Z - now to h", "≈ 769.508333333333333333333333333 (92341/120) hour"),
        ("2026-01-31T23:00-05:00 + 1 month", "2026-02-28T23:00:00-05:00"),
        ("2024-02-29T12:00Z + 1 year", "2025-02-28T12:00:00Z"),
        ("2026-11-23T00:30Z + 1 day - 45 min", "2026-11-23T23:45:00Z"),
        ("min(now, 2020-01-01T00:00Z)", "2020-01-01T00:00:00Z"),
    ],
)
def test_dates(text: str, value: str) -> None:
    assert calculate(text) == value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "expected a number, a unit or a date before the end"),
        ("(1 + 2", "expected ')' before the end"),
        ("1,000 + 2", "',' was not expected there"),
        ("2(3)", "'(' was not expected there"),
        ("1/0", "division by zero"),
        ("0^-1", "division by zero"),
        ("1 mod 0", "division by zero"),
        ("3 m + 4 s", "meter and second have different dimensions"),
        ("(3 m) s", "the value before s has to be a number without a unit"),
        ("3 m to s", "meter cannot be converted to second"),
        ("3 m to 2 km", "only a quantity can be converted, and only to a unit"),
        ("2026-01-01 to day", "only a quantity can be converted, and only to a unit"),
        ("12 usd", "'usd' is no unit, and no function"),
        ("frob(2)", "there is no function frob; there are abs, avg,"),
        ("2026-02-30", "2026-02-30 is no date"),
        ("today + 1.5 day", "a date moves by whole days or months"),
        ("today + 3 m", "meter is not a span of time"),
        ("today * 2", "only a span of time can be added to a date or subtracted from it"),
        ("1 day - today", "only a span of time can be added to a date or subtracted from it"),
        ("today + today", "of two dates, only the difference can be computed"),
        ("today + 1e6 year", "the date is not between the years 1 and 9999"),
        ("9999-12-31 + 1 day", "the date is not between the years 1 and 9999"),
        ("today ^ 2", "a date has no powers"),
        ("2026-12-25T10:00", "2026-12-25T10:00 needs its offset from UTC, such as Z or +01:00"),
        ("2026-12-25T25:00Z", "2026-12-25T25:00Z is no moment"),
        ("now - today", "a date cannot be subtracted from a moment, nor a moment from a date: give both a time, or none"),
        ("max(now, today)", "max cannot compare a date with a moment"),
        ("median(today)", "median takes no date"),
        ("now + 0.5 s", "a moment moves by whole seconds or months"),
        ("now + 1 m", "meter is not a span of time"),
        ("now to km", "a moment is converted to an offset from UTC, such as +09:00, or to UTC"),
        ("now to +24:00", "+24:00 is no offset from UTC"),
        ("now to +09:60", "+09:60 is no offset from UTC"),
        ("today to +09:00", "expected a number, a unit or a date before +09:00"),
        ("9999-12-31T23:00Z to +09:00", "the date is not between the years 1 and 9999"),
        ("9999-12-31T23:00Z + 2 h", "the date is not between the years 1 and 9999"),
        ("sin(1e10)", "an angle has at most 1,000,000,000 radians"),
        ("sin(1 m)", "an angle has to be a number without a unit"),
        ("tan(90 deg)", "a right angle has no tangent"),
        ("factorial(901)", "factorial takes a whole number from 0 to 900"),
        ("factorial(-1)", "factorial takes a whole number from 0 to 900"),
        ("factorial(0.5)", "factorial takes a whole number from 0 to 900"),
        ("gcd(1.5, 2)", "gcd takes whole numbers"),
        ("gcd()", "gcd needs at least one argument"),
        ("lcm(9^999, 7^999, 5^999, 11^900)", "a number has more than about 2,400 digits"),
        ("log2(0)", "only a number above zero has a logarithm"),
        ("9**9**9", "a number has more than about 2,400 digits"),
        ("10^(10^9)", "a number has more than about 2,400 digits"),
        ("(1 + 1e-9)^1e9", "a number has more than about 2,400 digits"),
        ("abs(today)", "abs takes no date"),
        ("max(today, 1)", "max cannot compare dates with numbers"),
        ("20 degC + 5 degC", "degrees of a temperature can only be converted"),
        ("(20 degC)^2", "degrees of a temperature have no powers"),
        ("2^(1 m)", "an exponent has to be a number without a unit"),
        ("(2 m)^0.5", "the base of such a power has to be a number without a unit"),
        ("(-2)^0.5", "a negative number has no such power"),
        ("sqrt(-1)", "a negative number has no square root"),
        ("ln(0)", "only a number above zero has a logarithm"),
        ("sqrt(1, 2)", "sqrt takes 1 argument, not 2"),
        ("round(1, 0.5)", "round takes a whole number of digits"),
        ("sum()", "sum needs at least one argument"),
        ("avg()", "sum needs at least one argument"),
        ("min()", "min needs at least one argument"),
        ("__import__('os')", '"\'" has no meaning here'),
        ("9^9^9", "a number has more than about 2,400 digits"),
        ("1e999 * 1e999 * 1e999", "a number has more than about 2,400 digits"),
        ("exp(1e9)", "a number has more than about 2,400 digits"),
        ("((m^10)^10)^10", "the powers of a unit are more than 100 together"),
        ("m^60 * s^60", "the powers of a unit are more than 100 together"),
        ("5 m^101", "the powers of a unit are more than 100 together"),
        ("((((km^1000)^1000)^1000)^1000) to m", "the powers of a unit are more than 100 together"),
        ("1e9999", "'e9999' is no unit, and no function"),
        ("1" * 501, "a number is longer than 500 characters"),
        ("(" * 51 + "1", "more than 50 brackets, signs and powers are nested in each other"),
        ("-" * 51 + "1", "more than 50 brackets, signs and powers are nested in each other"),
        ("1^" * 51 + "1", "more than 50 brackets, signs and powers are nested in each other"),
        ("abs(" * 51 + "1", "more than 50 brackets, signs and powers are nested in each other"),
    ],
)
def test_what_has_no_value_is_explained(text: str, reason: str) -> None:
    with pytest.raises(CalculationError) as raised:
        calculate(text)
    assert str(raised.value).startswith(reason)


@given(st.fractions(max_denominator=50), st.sampled_from("+-*/"), st.fractions(max_denominator=50))
def test_arithmetic_is_that_of_fractions(first: Fraction, symbol: str, second: Fraction) -> None:
    operation = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}[symbol]
    try:
        value = format_number(operation(first, second))
    except ZeroDivisionError:
        value = "division by zero"
    assert answer(f"({first}) {symbol} ({second})") == value


@given(st.dates(date(1900, 1, 1), date(2100, 1, 1)), st.integers(-20_000, 20_000))
def test_days_are_those_of_the_calendar(day: date, days: int) -> None:
    assert calculate(f"{day} + ({days}) day") == (day + timedelta(days=days)).isoformat()


@given(st.floats(-1_000, 1_000).map(Fraction))
def test_sine_and_cosine_are_those_of_a_circle(angle: Fraction) -> None:
    assert calculate(f"round(sin({angle})^2 + cos({angle})^2, 25)") in ("1", "≈ 1")


@given(st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)), st.integers(-(10**9), 10**9), st.integers(-23, 23))
def test_moments_are_those_of_the_clock(moment: datetime, seconds: int, hours: int) -> None:
    moment, offset = moment.replace(microsecond=0, tzinfo=UTC), timezone(timedelta(hours=hours))
    expected = (moment + timedelta(seconds=seconds)).astimezone(offset)
    text = f"{moment.isoformat()} + ({seconds}) s to {hours:+03d}:00"
    assert calculate(text) == expected.isoformat().replace("+00:00", "Z")


@given(st.text("0123456789.+-*/^()%,:TZeE km²todaynow_ inmodmaxround°CUs", max_size=60))
def test_any_text_has_a_value_or_an_explanation(text: str) -> None:
    assert 0 < len(answer(text)) < 5_000


def test_the_table_of_units_is_read_again_before_it_grows_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    from ferryman.tools.local_function.calculation import units

    with units.open_units() as before:
        monkeypatch.setattr(before, "uses", units.USES_MAX)
    with units.open_units() as after:
        assert after is not before


def test_importing_the_tool_registers_it() -> None:
    assert TOOL_REGISTRY["calculator"] is calculator
    assert TOOLS["calculator"].to_definition() in TOOL_SCHEMAS


async def say(expression: str) -> str:
    tool_call = ToolCall(id="1", name="calculator", arguments={"expression": expression})
    return await execute(tool_call, UUID(int=1), None)


async def test_the_tool_answers_with_the_value() -> None:
    assert await say("2 + 2") == "4"


async def test_the_tool_says_what_is_wrong() -> None:
    assert await say("2 +") == "Error: expression: expected a number, a unit or a date before the end"


async def test_an_expression_that_was_cut_is_not_calculated() -> None:
    assert await say("1" + "+1" * 600) == "Error: expression: at most 999 characters can be calculated"
