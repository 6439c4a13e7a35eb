"""Retry rules and rates, as numbers."""

from datetime import UTC, datetime, timedelta

import pytest
from google.cloud.tasks_v2.types import RetryConfig
from hypothesis import given
from hypothesis import strategies as st

from emulator.tasks.rate import Bucket
from emulator.tasks.retry import RETENTION, back_off, is_over

START = datetime(2026, 1, 1, tzinfo=UTC)


def config(**fields):
    return RetryConfig(**fields)._pb


def seconds(least, most, doublings, failures) -> float:
    rule = config(min_backoff=timedelta(seconds=least), max_backoff=timedelta(seconds=most), max_doublings=doublings)
    return back_off(rule, failures).total_seconds()


def test_the_wait_doubles_then_grows_evenly_then_stays():
    assert [seconds(10, 300, 3, failures) for failures in range(1, 9)] == [10, 20, 40, 80, 160, 240, 300, 300]


def test_without_doublings_the_wait_grows_evenly():
    assert [seconds(1, 100, 0, failures) for failures in range(1, 5)] == [1, 2, 3, 4]


def test_no_wait_is_longer_than_a_task_lives():
    assert seconds(1, 300_000_000_000, 100, 10**6) == RETENTION.total_seconds()


@given(st.floats(0.001, 3600), st.floats(1, 100), st.integers(0, 2**31 - 1), st.integers(1, 10**6))
def test_the_wait_never_shrinks_and_keeps_its_bounds(least, factor, doublings, failures):
    most = least * factor
    wait = seconds(least, most, doublings, failures)
    assert least - 1e-5 <= wait <= most + 1e-5
    assert wait <= seconds(least, most, doublings, failures + 1)


@pytest.mark.parametrize(
    ("attempts", "limit_s", "failures", "age_s", "over"),
    [
        (3, 0, 2, 10**6, False),
        (3, 0, 3, 0, True),
        (3, 60, 3, 59, False),
        (3, 60, 2, 61, False),
        (3, 60, 3, 60, True),
        (-1, 60, 1000, 59, False),
        (-1, 60, 1, 60, True),
        (-1, 0, 10**6, 10**6, False),
    ],
)
def test_a_task_is_over_when_every_limit_that_is_set_is_reached(attempts, limit_s, failures, age_s, over):
    rule = config(max_attempts=attempts, max_retry_duration=timedelta(seconds=limit_s))
    now = START + timedelta(seconds=age_s)
    assert is_over(rule, failures=failures, first=START, created=START, now=now) is over


def test_no_task_lives_longer_than_31_days():
    rule = config(max_attempts=-1)
    assert is_over(rule, failures=1, first=START, created=START, now=START + RETENTION)


@given(st.floats(0.1, 500), st.integers(1, 100), st.lists(st.floats(0, 10), max_size=50))
def test_a_bucket_never_gives_more_than_its_rate_and_its_burst(rate, burst, pauses):
    bucket, now, count = Bucket(rate, burst, START), START, 0
    for pause in pauses:
        now += timedelta(seconds=pause)
        while bucket.take(now):
            count += 1
        assert count <= burst + rate * (now - START).total_seconds() + 1e-3


@given(st.floats(0.1, 500), st.integers(1, 100))
def test_a_bucket_knows_when_it_will_give_again(rate, burst):
    bucket, now = Bucket(rate, burst, START), START
    while bucket.take(now):
        pass
    assert bucket.take(bucket.ready())
