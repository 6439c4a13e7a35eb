"""The clock: time that is still until it is turned, and then wakes those that wait for it."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from emulator.clock import EmulatorClock

START = datetime(2026, 1, 1, tzinfo=UTC)


def test_a_still_clock_does_not_move_until_it_is_turned():
    clock = EmulatorClock(START)
    assert clock.now() == clock.now() == START
    clock.advance(timedelta(days=30))
    assert clock.now() == START + timedelta(days=30)


def test_a_clock_is_ahead_of_the_real_time_by_what_it_was_turned():
    clock = EmulatorClock()
    clock.advance(timedelta(days=30))
    assert timedelta(days=29) < clock.now() - datetime.now(UTC) < timedelta(days=31)


def test_a_clock_does_not_run_backwards():
    with pytest.raises(ValueError, match="forward"):
        EmulatorClock().advance(timedelta(seconds=-1))


@pytest.mark.parametrize("clock", [EmulatorClock(START), EmulatorClock()], ids=["still", "running"])
async def test_who_waits_for_a_moment_wakes_when_it_comes(clock):
    waiting = asyncio.create_task(clock.until(clock.now() + timedelta(days=1), asyncio.Event()))
    await asyncio.sleep(0)
    clock.advance(timedelta(hours=23))
    await asyncio.sleep(0)
    assert not waiting.done()
    clock.advance(timedelta(hours=2))
    await asyncio.wait_for(waiting, 10)


async def test_who_waits_for_a_moment_can_be_woken_before():
    clock = EmulatorClock(START)
    wake = asyncio.Event()
    waiting = asyncio.create_task(clock.until(START + timedelta(days=1), wake))
    forever = asyncio.create_task(clock.until(None, wake))
    await asyncio.sleep(0)
    wake.set()
    await asyncio.wait_for(asyncio.gather(waiting, forever), 10)


async def test_a_moment_that_is_past_is_not_waited_for():
    await asyncio.wait_for(EmulatorClock(START).until(START, asyncio.Event()), 10)


async def test_what_takes_longer_than_its_deadline_is_cut_off():
    clock = EmulatorClock(START)

    async def hang() -> None:
        async with clock.deadline(START + timedelta(minutes=1)):
            await asyncio.Event().wait()

    hanging = asyncio.create_task(hang())
    await asyncio.sleep(0)
    clock.advance(timedelta(minutes=1))
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(hanging, 10)


async def test_what_ends_in_time_is_left_alone():
    clock = EmulatorClock(START)
    async with clock.deadline(START + timedelta(minutes=1)):
        await asyncio.sleep(0)
    clock.advance(timedelta(hours=1))
    await asyncio.sleep(0)
