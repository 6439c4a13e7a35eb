"""Latencies: fixed buckets, whose sums are exact."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.metering.latency import BOUNDS_MS, count_latency, find_quantile, merge

LATENCIES = st.lists(st.floats(0, 200_000), max_size=30)


def count_all(latencies: list[float]) -> tuple[int, ...]:
    whole: tuple[int, ...] = ()
    for latency in latencies:
        whole = merge(whole, count_latency(latency))
    return whole


@pytest.mark.parametrize(("latency", "bucket"), [(0.0, 0), (10.0, 0), (10.1, 1), (60_000.0, 11), (60_001.0, 12)])
def test_a_call_is_in_the_bucket_whose_bound_it_does_not_exceed(latency: float, bucket: int) -> None:
    histogram = count_latency(latency)
    assert (len(histogram), sum(histogram), histogram[bucket]) == (len(BOUNDS_MS) + 1, 1, 1)


def test_a_call_that_made_no_round_trip_is_in_none() -> None:
    assert sum(count_latency(None)) == 0


@given(LATENCIES, LATENCIES)
def test_two_histograms_merge_into_that_of_all_calls(some: list[float], others: list[float]) -> None:
    assert merge(count_all(some), count_all(others)) == count_all([*some, *others]) == merge(count_all(others), count_all(some))


def test_a_quantile_is_the_bound_of_its_bucket() -> None:
    histogram = count_all([5.0] * 9 + [700.0])
    assert (find_quantile(histogram, 0.5), find_quantile(histogram, 0.95)) == (10, 1_000)


def test_there_is_no_bound_of_no_calls_nor_of_the_slowest() -> None:
    assert (find_quantile((), 0.5), find_quantile(count_all([90_000.0]), 0.5)) == (None, None)
