"""The cache of scanners: for whom, of which values, how many and how long."""

from __future__ import annotations

import pytest

from ferryman.egress.scanner_cache import AGE_S, CREDENTIALS_MAX, UNUSED_S, ScannerCache
from tests.canaries.canary import create_key
from tests.egress.plants import VALUES, credential

KEY = credential(VALUES["prefixed"])


class Clock:
    """Seconds that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def cache(clock: Clock) -> ScannerCache:
    return ScannerCache(clock)


def test_a_scanner_is_built_once_for_the_same_values(cache: ScannerCache) -> None:
    scanner = cache.get([KEY])
    assert cache.get([KEY]) is scanner
    assert cache.get([credential(VALUES["prefixed"])]) is scanner


def test_a_value_that_was_replaced_is_forgotten_with_its_scanner(cache: ScannerCache) -> None:
    scanner = cache.get([KEY])
    assert cache.find([credential(VALUES["github"])]) is None
    assert len(cache) == 0
    assert cache.get([credential(VALUES["github"])]) is not scanner


@pytest.mark.parametrize(
    "others", [[], [KEY, credential(VALUES["github"], "OTHER")], [credential(VALUES["prefixed"], "OTHER")]]
)
def test_credentials_more_fewer_or_of_another_name_have_a_scanner_of_their_own(others: list, cache: ScannerCache) -> None:
    scanner = cache.get([KEY])
    assert cache.get(others) is not scanner


def test_a_scanner_that_is_not_used_is_dropped(cache: ScannerCache, clock: Clock) -> None:
    scanner = cache.get([KEY])
    clock.now = UNUSED_S - 1
    assert cache.drop_old() == 1
    assert cache.get([KEY]) is scanner
    clock.now = 2 * UNUSED_S - 1
    assert cache.drop_old() is None
    assert len(cache) == 0


def test_a_scanner_that_is_not_used_is_dropped_with_the_next_that_is(cache: ScannerCache, clock: Clock) -> None:
    cache.get([])
    clock.now = UNUSED_S - 1
    cache.get([KEY])
    clock.now = UNUSED_S
    assert (cache.find([KEY]) is not None, len(cache)) == (True, 1)


def test_a_scanner_that_is_always_used_is_dropped_too(cache: ScannerCache, clock: Clock) -> None:
    scanner = cache.get([KEY])
    for clock.now in range(10, int(AGE_S), 50):
        assert cache.get([KEY]) is scanner
    clock.now = AGE_S
    assert cache.get([KEY]) is not scanner


def test_of_too_many_the_longest_unused_is_dropped(cache: ScannerCache) -> None:
    many = [credential(create_key("cache", 16), f"KEY_{number}") for number in range(CREDENTIALS_MAX - 1)]
    scanner = cache.get([])
    cache.get(many)
    assert (len(cache), cache.find([])) == (1, None)
    assert scanner is not cache.get([])
    assert cache.find(many) is None


def test_all_can_be_cleared(cache: ScannerCache) -> None:
    cache.get([KEY])
    cache.clear()
    assert len(cache) == 0
