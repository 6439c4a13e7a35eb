"""Open streams: so many of an owner's over all instances, each for as long as it says so."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from .conftest import Stores
from .values import NOW

MINUTE = timedelta(minutes=1)


async def hold(stores: Stores, stream: str, owner: str = "ann", *, after: timedelta = timedelta(0), most: int = 2) -> bool:
    now = NOW + after
    return await stores.streams.hold(owner, stream, now=now, until=now + MINUTE, most=most)


async def test_one_more_than_may_be_open_is_not(stores: Stores) -> None:
    assert [await hold(stores, stream) for stream in "abc"] == [True, True, False]


async def test_another_owner_has_streams_of_its_own(stores: Stores) -> None:
    assert [await hold(stores, stream, owner) for owner in ("ann", "ben") for stream in "ab"] == [True] * 4


async def test_one_that_was_released_makes_room(stores: Stores) -> None:
    for stream in "ab":
        await hold(stores, stream)
    await stores.streams.release("ann", "a")
    assert [await hold(stores, stream) for stream in "cd"] == [True, False]


async def test_one_whose_time_is_over_makes_room(stores: Stores) -> None:
    for stream in "ab":
        await hold(stores, stream)
    assert await hold(stores, "c", after=MINUTE)


async def test_one_that_says_that_it_is_open_still_counts(stores: Stores) -> None:
    for stream in "ab":
        await hold(stores, stream)
    assert all([await hold(stores, stream, after=MINUTE / 2) for stream in "ab"])
    assert not await hold(stores, "c", after=MINUTE)


async def test_one_that_says_so_too_late_may_have_lost_its_place(stores: Stores) -> None:
    await hold(stores, "a")
    for stream in "bc":
        assert await hold(stores, stream, after=MINUTE)
    assert not await hold(stores, "a", after=MINUTE)


async def test_streams_that_open_at_the_same_time_do_not_pass_the_cap_together(stores: Stores) -> None:
    outcomes = await asyncio.gather(*(hold(stores, str(number), most=3) for number in range(9)))
    assert sum(outcomes) == 3


async def test_what_was_never_held_may_be_released(stores: Stores) -> None:
    await stores.streams.release("ann", "a")
    assert await hold(stores, "a", most=1)
