"""Put back: a delivery of an owner at its cap holds nothing, is not a failed one, and comes again until there is a slot."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from ferryman.domain.executions.execution import Lease, Status
from ferryman.domain.executions.occupancy import (
    DELIVERY_TIME,
    START_SPACING,
    Occupancy,
    compute_pause,
)
from ferryman.domain.owners.plan import PRO
from ferryman.inmemory.clock import START
from ferryman.inmemory.queue import MemoryQueue, QueuedDelivery
from ferryman.loop.run import deliver
from ferryman.ports.errors import UnavailableError
from tests.builders import build_execution

from .conftest import Stage, says

LEASED = Lease(holder="another", epoch=1, expires_at=START + timedelta(hours=1))
EXECUTION = build_execution()


def crowd(stage: Stage) -> None:
    """Run as many executions of the owner as may run."""
    for number in range(PRO.executions_running):
        running = replace(EXECUTION, id=f"running{number}", status=Status.RUNNING, lease=LEASED)
        stage.memory.executions[running.id] = running
        stage.memory.occupancy["o"] = stage.memory.occupancy.get("o", Occupancy()).run(running)


async def test_a_delivery_that_finds_no_slot_is_put_back_and_forgotten(stage: Stage) -> None:
    crowd(stage)
    assert await deliver(stage.deps(), "e", slice=0, holder="h", waits=3)
    assert stage.queue.waiting == (QueuedDelivery("e", 0, compute_pause(EXECUTION, queued=0, waits=3), waits=4),)


async def test_it_changes_nothing_of_its_execution_and_asks_no_model(stage: Stage) -> None:
    before = stage.execution
    crowd(stage)
    await deliver(stage.deps(), "e", slice=0, holder="h")
    assert (stage.execution, stage.model.prompts) == (before, [])


async def test_two_deliveries_of_the_same_are_put_back_once(stage: Stage) -> None:
    crowd(stage)
    for _ in range(2):
        await deliver(stage.deps(), "e", slice=0, holder="h", waits=1)
    assert len(stage.queue.waiting) == 1


async def test_it_runs_once_a_slot_is_free(stage: Stage) -> None:
    crowd(stage)
    await deliver(stage.deps(), "e", slice=0, holder="h")
    stage.memory.occupancy["o"] = stage.memory.occupancy["o"].leave("running0")
    assert await stage.run(says("Done."))
    assert (stage.execution.status, "e" in stage.memory.occupancy["o"].running) == (Status.COMPLETED, False)


async def test_a_queue_that_does_not_take_it_back_delivers_it_again(stage: Stage) -> None:
    class Full(MemoryQueue):
        async def enqueue(self, *_: object, **__: object) -> None:
            raise UnavailableError("no answer")

    crowd(stage)
    deps = replace(stage.deps(), queue=Full())
    assert not await deliver(deps, "e", slice=0, holder="h")


def queue_up(stage: Stage, name: str) -> None:
    """Queue an execution of the owner."""
    waiting = replace(EXECUTION, id=name, created_at=START - timedelta(seconds=9))
    stage.memory.occupancy["o"] = stage.memory.occupancy.get("o", Occupancy()).enqueue(waiting, most=9)


async def test_an_execution_that_ends_wakes_the_one_that_is_queued_longest(stage: Stage) -> None:
    crowd(stage)
    stage.memory.occupancy["o"] = stage.memory.occupancy["o"].leave("running0")
    queue_up(stage, "waiting")
    stage.memory.occupancy["o"] = stage.memory.occupancy["o"].enqueue(replace(EXECUTION, id="younger"), most=9)
    stage.clock.turn(DELIVERY_TIME.total_seconds())
    assert await stage.run(says("Done."))
    assert stage.queue.waiting == (QueuedDelivery("waiting", 0, timedelta(0), wake_up="slot"),)


async def test_executions_that_are_woken_together_begin_one_after_the_other(stage: Stage) -> None:
    queue_up(stage, "first")
    queue_up(stage, "second")
    assert await stage.run(says("Done."))
    pauses = {delivery.execution: delivery.after for delivery in stage.queue.waiting}
    assert pauses == {"first": 0 * START_SPACING, "second": START_SPACING}


async def test_an_execution_that_ends_wakes_none_that_there_is_no_slot_for(stage: Stage) -> None:
    crowd(stage)
    queue_up(stage, "waiting")
    await deliver(stage.deps(), "e", slice=0, holder="h")
    assert [delivery.execution for delivery in stage.queue.waiting] == ["e"]


async def test_a_queue_that_does_not_take_the_one_to_be_woken_fails_no_delivery(stage: Stage) -> None:
    class Full(MemoryQueue):
        async def enqueue(self, *_: object, **__: object) -> None:
            raise UnavailableError("no answer")

    queue_up(stage, "waiting")
    stage.queue = Full()
    assert await stage.run(says("Done."))
    assert stage.execution.status is Status.COMPLETED
