"""Fetched tokens: kept as they were put, one fetch at a time, and only the one that is stale forgotten."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from ferryman.domain.credentials.token import FORMER_MAX, KNOWN, Fetch, Token, TokenSlot
from ferryman.domain.stale import StaleError

from .conftest import Doors
from .values import LATER, NOW

KEY = "a" * 64
UNTIL = NOW + timedelta(seconds=15)


def fetch(name: str, until=UNTIL) -> Fetch:
    return Fetch(name=name, until=until)


def brought(name: str, seconds: int = 600) -> Token:
    return Token(fetch=name, ciphertext=b"\x00\xff" * 50, expires_at=NOW + timedelta(seconds=seconds))


async def kept(doors: Doors, name: str = "one") -> None:
    await doors.tokens.claim(KEY, "ann", "task_1", fetch(name), stale=None, now=NOW)
    await doors.tokens.put(KEY, brought(name))


async def test_nothing_is_kept_of_what_nobody_fetched(doors: Doors) -> None:
    assert await doors.tokens.get(KEY) is None


async def test_who_takes_the_place_first_fetches(doors: Doors) -> None:
    found = await asyncio.gather(
        *(doors.tokens.claim(KEY, "ann", "task_1", fetch(f"fetch_{number}"), stale=None, now=NOW) for number in range(8))
    )
    assert len({each.fetch.name for each in found if each.fetch}) == 1
    assert await doors.tokens.get(KEY) == found[0] == TokenSlot(owner="ann", task="task_1", fetch=found[0].fetch)


async def test_a_token_comes_back_as_it_was_put_and_ends_its_fetch(doors: Doors) -> None:
    await kept(doors)
    assert await doors.tokens.get(KEY) == TokenSlot(owner="ann", task="task_1", token=brought("one"))


async def test_a_good_token_is_not_fetched_again(doors: Doors) -> None:
    await kept(doors)
    assert (await doors.tokens.claim(KEY, "ann", "task_1", fetch("two"), stale="zero", now=LATER)).fetch is None


async def test_an_expired_token_is(doors: Doors) -> None:
    await kept(doors)
    late = NOW + timedelta(seconds=600)
    again = fetch("two", late + timedelta(seconds=15))
    found = await doors.tokens.claim(KEY, "ann", "task_1", again, stale=None, now=late)
    assert (found.token, found.fetch) == (None, again)


async def test_a_stale_token_is_forgotten_at_once_and_a_newer_one_is_not(doors: Doors) -> None:
    await kept(doors)
    found = await doors.tokens.claim(KEY, "ann", "task_1", fetch("two"), stale="one", now=NOW)
    assert (found.token, found.fetch) == (None, fetch("two"))
    await doors.tokens.put(KEY, brought("two"))
    assert (await doors.tokens.claim(KEY, "ann", "task_1", fetch("three"), stale="one", now=NOW)).token == brought("two")


async def test_a_fetch_that_ran_out_is_anothers(doors: Doors) -> None:
    await doors.tokens.claim(KEY, "ann", "task_1", fetch("one"), stale=None, now=NOW)
    assert (await doors.tokens.claim(KEY, "ann", "task_1", fetch("two"), stale=None, now=LATER)).fetch == fetch("one")
    after = fetch("two", UNTIL + timedelta(seconds=15))
    assert (await doors.tokens.claim(KEY, "ann", "task_1", after, stale=None, now=UNTIL)).fetch == after
    with pytest.raises(StaleError):
        await doors.tokens.put(KEY, brought("one"))
    await doors.tokens.release(KEY, "one")
    assert await doors.tokens.get(KEY) == TokenSlot(owner="ann", task="task_1", fetch=after)


async def test_a_fetch_that_brought_nothing_leaves_the_place_to_the_next(doors: Doors) -> None:
    await doors.tokens.claim(KEY, "ann", "task_1", fetch("one"), stale=None, now=NOW)
    await doors.tokens.release(KEY, "one")
    assert (await doors.tokens.claim(KEY, "ann", "task_1", fetch("two"), stale=None, now=NOW)).fetch == fetch("two")


async def test_a_token_without_a_fetch_is_not_put(doors: Doors) -> None:
    with pytest.raises(StaleError):
        await doors.tokens.put(KEY, brought("one"))
    assert await doors.tokens.get(KEY) is None
    await doors.tokens.release(KEY, "one")
    assert await doors.tokens.get(KEY) is None


async def test_what_is_kept_for_a_task_is_its_own_and_its_owners(doors: Doors) -> None:
    for key, owner, task in (("a", "ann", "task_1"), ("b", "ann", ""), ("c", "ann", "task_2"), ("d", "ben", "")):
        await doors.tokens.claim(key * 64, owner, task, fetch("one"), stale=None, now=NOW)
        await doors.tokens.put(key * 64, brought("one"))
    found = await doors.tokens.list("ann", "task_1")
    assert {key[0]: slot.token for key, slot in found.items()} == {"a": brought("one"), "b": brought("one")}


async def renewed(doors: Doors, *names: str) -> TokenSlot:
    """What is kept once each of the tokens `names` was fetched, in place of the one before it."""
    for last, name in zip((None, *names), names, strict=False):
        await doors.tokens.claim(KEY, "ann", "task_1", fetch(name), stale=last, now=NOW)
        await doors.tokens.put(KEY, brought(name))
    found = await doors.tokens.get(KEY)
    assert found is not None
    return found


async def test_every_token_that_was_good_is_known_after_the_next_ones(doors: Doors) -> None:
    found = await renewed(doors, "one", "two", "three")
    assert (found.token, found.former) == (brought("three"), (brought("two"), brought("one")))


async def test_only_so_many_former_tokens_are_kept(doors: Doors) -> None:
    names = [f"fetch_{number}" for number in range(FORMER_MAX + 3)]
    found = await renewed(doors, *names)
    assert [each.fetch for each in found.former] == names[-2 : -2 - FORMER_MAX : -1]


async def test_a_former_token_is_dropped_a_day_after_its_time(doors: Doors) -> None:
    await renewed(doors, "one", "two")
    ends = brought("one").expires_at + KNOWN
    late = [
        await doors.tokens.claim(KEY, "ann", "task_1", fetch(name, now + timedelta(seconds=15)), stale="two", now=now)
        for name, now in (("three", ends - timedelta(seconds=60)), ("four", ends))
    ]
    assert [[each.fetch for each in slot.former] for slot in late] == [["two", "one"], []]


async def test_places_are_apart(doors: Doors) -> None:
    await kept(doors)
    assert await doors.tokens.get("b" * 64) is None


async def test_the_slots_of_a_task_are_listed_and_sealed_again_unless_they_changed(doors: Doors) -> None:
    await kept(doors)
    ((key, slot),) = (await doors.tokens.list_for_task("task_1")).items()
    assert (key, await doors.tokens.list_for_task("")) == (KEY, {})
    after = TokenSlot(owner="ann", task="task_1", token=brought("sealed again"))
    await doors.tokens.reseal(KEY, slot, after)
    assert await doors.tokens.get(KEY) == after
    await doors.tokens.reseal(KEY, slot, slot)
    assert await doors.tokens.get(KEY) == after
