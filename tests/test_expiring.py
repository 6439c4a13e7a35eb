"""What is kept in memory for a while: as long and as much of it as was told, whether or not anybody asks for it."""

from __future__ import annotations

import asyncio
import gc
from contextvars import ContextVar, copy_context
from weakref import ref

from ferryman.expiring import ExpiringCache


class Request:
    """What a context holds while one is answered."""


request: ContextVar[Request] = ContextVar("request")


class Clock:
    """Seconds that pass when a test says so."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_value_is_there_until_its_time_is_over_however_often_it_is_read() -> None:
    clock = Clock()
    cache: ExpiringCache[str, int] = ExpiringCache(most=3, life_s=10, clock=clock)
    cache.put("a", 1)
    for clock.now in (0.0, 5.0, 9.0):
        assert cache.get("a") == 1
    clock.now = 10.0
    assert cache.get("a") is None


def test_what_was_never_put_is_not_there() -> None:
    assert ExpiringCache[str, int](most=3, life_s=10).get("a") is None


def test_the_oldest_makes_room() -> None:
    cache: ExpiringCache[str, int] = ExpiringCache(most=2, life_s=10)
    for number, name in enumerate("abc"):
        cache.put(name, number)
    assert [cache.get(name) for name in "abc"] == [None, 1, 2]


def test_a_value_that_is_put_again_is_the_newest_and_lives_from_then_on() -> None:
    clock = Clock()
    cache: ExpiringCache[str, int] = ExpiringCache(most=2, life_s=10, clock=clock)
    cache.put("a", 1)
    cache.put("b", 2)
    clock.now = 5.0
    cache.put("a", 3)
    cache.put("c", 4)
    clock.now = 14.0
    assert [cache.get(name) for name in "abc"] == [3, None, 4]


def test_what_has_expired_is_no_longer_in_memory() -> None:
    clock = Clock()
    cache: ExpiringCache[str, int] = ExpiringCache(most=3, life_s=10, clock=clock)
    cache.put("a", 1)
    clock.now = 10.0
    cache.drop_expired()
    assert len(cache) == 0


async def test_what_has_expired_is_dropped_though_nobody_asks() -> None:
    cache: ExpiringCache[str, int] = ExpiringCache(most=3, life_s=0.001)
    cache.put("a", 1)
    async with asyncio.timeout(5):
        while len(cache):  # noqa: ASYNC110 - the event loop's own timer drops it
            await asyncio.sleep(0)


def test_everything_can_be_dropped_at_once() -> None:
    cache: ExpiringCache[str, int] = ExpiringCache(most=3, life_s=10)
    cache.put("a", 1)
    cache.clear()
    assert (len(cache), cache.get("a")) == (0, None)


async def test_one_timer_drops_them_all() -> None:
    before = count_timers()
    cache: ExpiringCache[int, int] = ExpiringCache(most=4, life_s=100)
    for number in range(1_000):
        cache.put(number, number)
    assert count_timers() - before == 1


async def test_what_was_under_way_at_a_put_is_not_kept_with_the_value() -> None:
    cache: ExpiringCache[str, int] = ExpiringCache(most=4, life_s=100)

    def put() -> ref[Request]:
        answered = Request()
        request.set(answered)
        cache.put("a", 1)
        return ref(answered)

    answered = copy_context().run(put)
    gc.collect()
    assert (cache.get("a"), answered()) == (1, None)


async def test_a_value_put_after_the_timer_was_set_is_dropped_in_time_too() -> None:
    cache: ExpiringCache[str, int] = ExpiringCache(most=3, life_s=0.001)
    cache.put("a", 1)
    await asyncio.sleep(0)
    cache.put("b", 2)
    async with asyncio.timeout(5):
        while len(cache):  # noqa: ASYNC110 - the event loop's own timer drops it
            await asyncio.sleep(0)


def count_timers() -> int:
    """Return how many timers there are in this process."""
    gc.collect()
    return sum(isinstance(tracked, asyncio.TimerHandle) for tracked in gc.get_objects())
