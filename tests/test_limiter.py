"""Turns: an owner waits for its own, never for another's, and is forgotten once it is idle."""

from __future__ import annotations

import asyncio

import pytest

from ferryman.limiter import OwnerLimiter


async def test_an_owner_waits_for_its_own_turns_alone() -> None:
    turns = OwnerLimiter(2)
    await turns.take("ann")
    await turns.take("ann")
    third = asyncio.create_task(turns.take("ann"))
    await turns.take("ben")
    assert not third.done()
    turns.give("ann")
    await third


async def test_what_is_held_and_waited_for_is_counted_per_owner() -> None:
    turns = OwnerLimiter(1)
    async with turns.turn("ann"):
        waiting = asyncio.create_task(turns.take("ann"))
        await asyncio.sleep(0)
        assert (turns.count("ann"), turns.count("ben")) == (2, 0)
    await waiting
    assert turns.count("ann") == 1


async def test_who_gives_up_waiting_holds_no_turn() -> None:
    turns = OwnerLimiter(1)
    async with turns.turn("ann"):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await turns.take("ann")
    assert turns.count("ann") == 0


async def test_an_idle_owner_is_forgotten() -> None:
    turns = OwnerLimiter(1)
    for number in range(100):
        async with turns.turn(f"owner{number}"):
            pass
    assert len(turns) == 0
