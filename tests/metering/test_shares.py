"""Shares: parts of a provider's number that sum up to it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.metering.shares import divide

TOTALS, WEIGHTS = st.integers(0, 10**9), st.lists(st.integers(0, 10**6), min_size=1, max_size=40)


@given(TOTALS, WEIGHTS)
def test_the_shares_sum_up_to_the_whole(total: int, weights: list[int]) -> None:
    assert sum(divide(total, weights)) == total


@given(TOTALS, WEIGHTS.filter(any))
def test_no_share_is_a_unit_away_from_its_exact_one(total: int, weights: list[int]) -> None:
    whole = sum(weights)
    shares = divide(total, weights)
    assert all(abs(share * whole - total * weight) < whole for share, weight in zip(shares, weights, strict=True))


def test_what_is_left_goes_to_the_largest_remainders_and_of_equal_ones_to_the_first() -> None:
    assert divide(10, [1, 1, 1]) == [4, 3, 3]
    assert divide(3, [1, 5, 2]) == [0, 2, 1]


def test_where_nothing_has_a_size_the_last_part_has_all() -> None:
    assert divide(7, [0, 0]) == [0, 7]
    assert divide(0, []) == []
