"""Rates: so many at once and one more every so long, for each owner apart, in memory that does not grow."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as some

from ferryman.inmemory.clock import START
from ferryman.rates import FORGET_FROM, Rate, Rates, Remembered

RATE = Rate(3, timedelta(seconds=2))
NONE = timedelta(0)


def test_as_many_as_at_once_are_taken_and_the_next_one_waits() -> None:
    rates = Rates()
    waits = [rates.take("ann", RATE, now=START) for _ in range(4)]
    assert waits == [NONE, NONE, NONE, RATE.every]


def test_what_is_refused_takes_nothing() -> None:
    rates = Rates()
    for _ in range(9):
        rates.take("ann", RATE, now=START)
    assert rates.take("ann", RATE, now=START + RATE.every) == NONE


def test_another_owner_has_tokens_of_its_own() -> None:
    rates = Rates()
    for _ in range(4):
        rates.take("ann", RATE, now=START)
    assert rates.take("ben", RATE, now=START) == NONE


@given(some.lists(some.integers(0, 5_000), min_size=1, max_size=60))
def test_no_period_takes_more_than_the_rate_allows(pauses_ms: list[int]) -> None:
    rates, now, moments = Rates(), START, []
    for pause in pauses_ms:
        now += timedelta(milliseconds=pause)
        if rates.take("ann", RATE, now=now) == NONE:
            moments.append(now)
    for first, begun in enumerate(moments):
        for last, ended in enumerate(moments[first:], first):
            assert last - first + 1 <= RATE.at_once + (ended - begun) / RATE.every


def test_buckets_that_are_full_again_are_forgotten() -> None:
    rates = Rates()
    for number in range(FORGET_FROM):
        rates.take(f"owner{number}", RATE, now=START)
    rates.take("ann", RATE, now=START + RATE.every)
    assert len(rates) == 1


def test_what_is_remembered_holds_until_its_time() -> None:
    remembered = Remembered[str]()
    remembered.keep("key", "value", now=START, until=START + timedelta(seconds=1))
    values = [remembered.find("key", now=START + timedelta(milliseconds=passed)) for passed in (0, 999, 1_000)]
    assert values == ["value", "value", None]


def test_what_has_passed_is_forgotten() -> None:
    remembered = Remembered[str]()
    for number in range(9):
        now = START + timedelta(seconds=number)
        remembered.keep(number, "value", now=now, until=now + timedelta(seconds=2))
    assert len(remembered) == 2
