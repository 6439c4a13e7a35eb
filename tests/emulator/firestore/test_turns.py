"""Turns: first come, first served, and the silent lose theirs."""

import asyncio

from emulator.firestore.turns import Holder, WriteTurns


async def test_turns_are_given_in_the_order_of_asking() -> None:
    turns, order = WriteTurns(), []

    async def work(number: int) -> None:
        holder = Holder()
        await turns.take(holder, ["x"])
        order.append(number)
        turns.release(holder)

    first = Holder()
    await turns.take(first, ["x"])
    tasks = []
    for number in range(5):
        tasks.append(asyncio.create_task(work(number)))
        await asyncio.sleep(0)
    assert order == []
    turns.release(first)
    await asyncio.gather(*tasks)
    assert order == [0, 1, 2, 3, 4]


async def test_a_silent_holder_loses_its_turn() -> None:
    turns = WriteTurns()
    await turns.take(Holder(lapse=0.01), ["x"])
    async with asyncio.timeout(10):
        await turns.take(Holder(), ["x"])


async def test_who_gives_up_waiting_leaves_the_queue() -> None:
    turns, first, last = WriteTurns(), Holder(), Holder()
    await turns.take(first, ["x"])
    impatient = asyncio.create_task(turns.take(Holder(), ["w", "x"]))
    await asyncio.sleep(0)
    impatient.cancel()
    await asyncio.gather(impatient, return_exceptions=True)
    turns.release(first)
    await turns.take(last, ["w", "x"])


async def test_turns_on_many_names_never_wait_in_a_circle() -> None:
    turns = WriteTurns()

    async def work(names: list[str]) -> None:
        holder = Holder()
        await turns.take(holder, names)
        await asyncio.sleep(0)
        turns.release(holder)

    async with asyncio.timeout(4):
        await asyncio.gather(*(work(names) for _ in range(20) for names in (["x", "y"], ["y", "x"], ["z", "x"], ["y", "z"])))


async def test_waiting_for_one_name_keeps_no_other_from_its_turn() -> None:
    turns, holder = WriteTurns(), Holder()
    await turns.take(holder, ["x"])

    async def write() -> None:
        async with turns.hold({"x", "y"}):
            pass

    waiting = asyncio.create_task(write())
    await asyncio.sleep(0)
    await turns.take(Holder(), ["y"])
    turns.release(holder)
    await waiting
