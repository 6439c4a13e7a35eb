"""Latencies: how many calls took how long, in fixed buckets, so that any two sums merge exactly."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import zip_longest

BOUNDS_MS = (10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000)
"""The upper bounds of the buckets in milliseconds, each within its bucket; the last bucket has none."""

Histogram = tuple[int, ...]
"""How many calls are in each bucket; () where none is in any."""


def count_latency(latency_ms: float | None) -> Histogram:
    """Return the histogram of one call; a call that made no round trip is in none of the buckets."""
    if latency_ms is None:
        return ()
    bucket = bisect_left(BOUNDS_MS, latency_ms)
    return tuple(int(index == bucket) for index in range(len(BOUNDS_MS) + 1))


def merge(first: Sequence[int], second: Sequence[int]) -> Histogram:
    """Merge two histograms."""
    return tuple(of_first + of_second for of_first, of_second in zip_longest(first, second, fillvalue=0))


def find_quantile(histogram: Sequence[int], share: float) -> int | None:
    """Find the upper bound of the bucket with the call that the `share` (0 to 1) of all took no longer than, in milliseconds.

    Return None where there is no call, or where it is in the bucket without a bound.
    """
    before = 0
    for bound, count in zip(BOUNDS_MS, histogram, strict=False):
        before += count
        if count and before >= share * sum(histogram):
            return bound
    return None
