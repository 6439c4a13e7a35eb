"""Open streams: so many of an owner's over all instances, each for as long as it says so."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from .conftest import Doors
from .values import NOW

MINUTE = timedelta(minutes=1)


async def hold(doors: Doors, stream: str, owner: str = "ann", *, after: timedelta = timedelta(0), most: int = 2) -> bool:
    now = NOW + after
    return await doors.streams.hold(owner, stream, now=now, until=now + MINUTE, most=most)


async def test_one_more_than_may_be_open_is_not(doors: Doors) -> None:
    assert [await hold(doors, each) for each in "abc"] == [True, True, False]


async def test_another_owner_has_streams_of_its_own(doors: Doors) -> None:
    assert [await hold(doors, each, owner) for owner in ("ann", "ben") for each in "ab"] == [True] * 4


async def test_one_that_was_released_makes_room(doors: Doors) -> None:
    for each in "ab":
        await hold(doors, each)
    await doors.streams.release("ann", "a")
    assert [await hold(doors, each) for each in "cd"] == [True, False]


async def test_one_whose_time_is_over_makes_room(doors: Doors) -> None:
    for each in "ab":
        await hold(doors, each)
    assert await hold(doors, "c", after=MINUTE)


async def test_one_that_says_that_it_is_open_still_counts(doors: Doors) -> None:
    for each in "ab":
        await hold(doors, each)
    assert all([await hold(doors, each, after=MINUTE / 2) for each in "ab"])
    assert not await hold(doors, "c", after=MINUTE)


async def test_one_that_says_so_too_late_may_have_lost_its_place(doors: Doors) -> None:
    await hold(doors, "a")
    for each in "bc":
        assert await hold(doors, each, after=MINUTE)
    assert not await hold(doors, "a", after=MINUTE)


async def test_streams_that_open_at_the_same_time_do_not_pass_the_cap_together(doors: Doors) -> None:
    told = await asyncio.gather(*(hold(doors, str(number), most=3) for number in range(9)))
    assert sum(told) == 3


async def test_what_was_never_held_may_be_released(doors: Doors) -> None:
    await doors.streams.release("ann", "a")
    assert await hold(doors, "a", most=1)
