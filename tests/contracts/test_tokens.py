"""Fetched tokens: kept as they were put, one fetch at a time, and only the one that is stale forgotten."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from ferryman.domain.credentials.token import FORMER_MAX, KNOWN, Fetch, Token, TokenSlot
from ferryman.domain.stale import StaleError

from .conftest import Stores
from .values import LATER, NOW

KEY = "a" * 64
UNTIL = NOW + timedelta(seconds=15)


def fetch(name: str, until=UNTIL) -> Fetch:
    return Fetch(name=name, until=until)


def build_token(name: str, seconds: int = 600) -> Token:
    return Token(fetch=name, ciphertext=b"\x00\xff" * 50, expires_at=NOW + timedelta(seconds=seconds))


async def store_token(stores: Stores, name: str = "one") -> None:
    await stores.tokens.claim(KEY, "ann", "task_1", fetch(name), stale=None, now=NOW)
    await stores.tokens.put(KEY, build_token(name))


async def test_nothing_is_kept_of_what_nobody_fetched(stores: Stores) -> None:
    assert await stores.tokens.get(KEY) is None


async def test_who_takes_the_place_first_fetches(stores: Stores) -> None:
    slots = await asyncio.gather(
        *(stores.tokens.claim(KEY, "ann", "task_1", fetch(f"fetch_{number}"), stale=None, now=NOW) for number in range(8))
    )
    assert len({slot.fetch.name for slot in slots if slot.fetch}) == 1
    assert await stores.tokens.get(KEY) == slots[0] == TokenSlot(owner="ann", task="task_1", fetch=slots[0].fetch)


async def test_a_token_comes_back_as_it_was_put_and_ends_its_fetch(stores: Stores) -> None:
    await store_token(stores)
    assert await stores.tokens.get(KEY) == TokenSlot(owner="ann", task="task_1", token=build_token("one"))


async def test_a_good_token_is_not_fetched_again(stores: Stores) -> None:
    await store_token(stores)
    assert (await stores.tokens.claim(KEY, "ann", "task_1", fetch("two"), stale="zero", now=LATER)).fetch is None


async def test_an_expired_token_is(stores: Stores) -> None:
    await store_token(stores)
    late = NOW + timedelta(seconds=600)
    again = fetch("two", late + timedelta(seconds=15))
    slot = await stores.tokens.claim(KEY, "ann", "task_1", again, stale=None, now=late)
    assert (slot.token, slot.fetch) == (None, again)


async def test_a_stale_token_is_forgotten_at_once_and_a_newer_one_is_not(stores: Stores) -> None:
    await store_token(stores)
    slot = await stores.tokens.claim(KEY, "ann", "task_1", fetch("two"), stale="one", now=NOW)
    assert (slot.token, slot.fetch) == (None, fetch("two"))
    await stores.tokens.put(KEY, build_token("two"))
    assert (await stores.tokens.claim(KEY, "ann", "task_1", fetch("three"), stale="one", now=NOW)).token == build_token("two")


async def test_a_fetch_that_ran_out_is_anothers(stores: Stores) -> None:
    await stores.tokens.claim(KEY, "ann", "task_1", fetch("one"), stale=None, now=NOW)
    assert (await stores.tokens.claim(KEY, "ann", "task_1", fetch("two"), stale=None, now=LATER)).fetch == fetch("one")
    after = fetch("two", UNTIL + timedelta(seconds=15))
    assert (await stores.tokens.claim(KEY, "ann", "task_1", after, stale=None, now=UNTIL)).fetch == after
    with pytest.raises(StaleError):
        await stores.tokens.put(KEY, build_token("one"))
    await stores.tokens.release(KEY, "one")
    assert await stores.tokens.get(KEY) == TokenSlot(owner="ann", task="task_1", fetch=after)


async def test_a_fetch_that_brought_nothing_leaves_the_place_to_the_next(stores: Stores) -> None:
    await stores.tokens.claim(KEY, "ann", "task_1", fetch("one"), stale=None, now=NOW)
    await stores.tokens.release(KEY, "one")
    assert (await stores.tokens.claim(KEY, "ann", "task_1", fetch("two"), stale=None, now=NOW)).fetch == fetch("two")


async def test_a_token_without_a_fetch_is_not_put(stores: Stores) -> None:
    with pytest.raises(StaleError):
        await stores.tokens.put(KEY, build_token("one"))
    assert await stores.tokens.get(KEY) is None
    await stores.tokens.release(KEY, "one")
    assert await stores.tokens.get(KEY) is None


async def test_what_is_kept_for_a_task_is_its_own_and_its_owners(stores: Stores) -> None:
    for key, owner, task in (("a", "ann", "task_1"), ("b", "ann", ""), ("c", "ann", "task_2"), ("d", "ben", "")):
        await stores.tokens.claim(key * 64, owner, task, fetch("one"), stale=None, now=NOW)
        await stores.tokens.put(key * 64, build_token("one"))
    slots = await stores.tokens.list("ann", "task_1")
    assert {key[0]: slot.token for key, slot in slots.items()} == {"a": build_token("one"), "b": build_token("one")}


async def renewed(stores: Stores, *names: str) -> TokenSlot:
    """Fetch the tokens `names` one after the other, and return the slot."""
    for last, name in zip((None, *names), names, strict=False):
        await stores.tokens.claim(KEY, "ann", "task_1", fetch(name), stale=last, now=NOW)
        await stores.tokens.put(KEY, build_token(name))
    slot = await stores.tokens.get(KEY)
    assert slot is not None
    return slot


async def test_every_token_that_was_good_is_known_after_the_next_ones(stores: Stores) -> None:
    slot = await renewed(stores, "one", "two", "three")
    assert (slot.token, slot.former) == (build_token("three"), (build_token("two"), build_token("one")))


async def test_only_so_many_former_tokens_are_kept(stores: Stores) -> None:
    names = [f"fetch_{number}" for number in range(FORMER_MAX + 3)]
    slot = await renewed(stores, *names)
    assert [token.fetch for token in slot.former] == names[-2 : -2 - FORMER_MAX : -1]


async def test_a_former_token_is_dropped_a_day_after_its_time(stores: Stores) -> None:
    await renewed(stores, "one", "two")
    ends = build_token("one").expires_at + KNOWN
    late = [
        await stores.tokens.claim(KEY, "ann", "task_1", fetch(name, now + timedelta(seconds=15)), stale="two", now=now)
        for name, now in (("three", ends - timedelta(seconds=60)), ("four", ends))
    ]
    assert [[token.fetch for token in slot.former] for slot in late] == [["two", "one"], []]


async def test_places_are_apart(stores: Stores) -> None:
    await store_token(stores)
    assert await stores.tokens.get("b" * 64) is None


async def test_the_slots_of_a_task_are_listed_and_sealed_again_unless_they_changed(stores: Stores) -> None:
    await store_token(stores)
    ((key, slot),) = (await stores.tokens.list_for_task("task_1")).items()
    assert (key, await stores.tokens.list_for_task("")) == (KEY, {})
    after = TokenSlot(owner="ann", task="task_1", token=build_token("sealed again"))
    await stores.tokens.reseal(KEY, slot, after)
    assert await stores.tokens.get(KEY) == after
    await stores.tokens.reseal(KEY, slot, slot)
    assert await stores.tokens.get(KEY) == after
