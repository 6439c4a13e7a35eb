"""The queue: the same slice is enqueued once, and waits as long as it should."""

from __future__ import annotations

from datetime import timedelta

from .conftest import Stores


async def test_the_same_slice_is_enqueued_once(stores: Stores) -> None:
    for _ in range(3):
        await stores.queue.enqueue("exec_1", slice=0)
    await stores.queue.enqueue("exec_1", slice=1)
    await stores.queue.enqueue("exec_2", slice=0)
    assert sorted((execution, number) for execution, number, _ in await stores.waiting()) == [
        ("exec_1", 0),
        ("exec_1", 1),
        ("exec_2", 0),
    ]


async def test_what_is_for_later_waits(stores: Stores) -> None:
    await stores.queue.enqueue("exec_1", slice=0, after=timedelta(hours=1))
    ((_, _, after),) = await stores.waiting()
    assert 3_500 < after <= 3_600
