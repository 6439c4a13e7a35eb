"""Slices: a run that outlasts one delivery goes on in the next, and nothing is held while it waits."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.executions.execution import Status
from ferryman.domain.owners.plan import PLANS
from ferryman.domain.stale import StaleError
from ferryman.inmemory.model import ScriptedModel
from ferryman.loop.run import deliver
from ferryman.ports.errors import UnavailableError
from tests.loop.conftest import fetches, says


def slow(stage, seconds: float):
    def on_call(ticket):
        stage.clock.turn(seconds)
        return ToolCallResult(ticket.tool, f"answer {ticket.seq}", response_status=200)

    return on_call


def short(stage, seconds: float) -> None:
    """Have every delivery end after so many seconds."""
    deps = stage.deps
    stage.deps = lambda: replace(deps(), slice=timedelta(seconds=seconds), execution_timeout=timedelta(hours=6))


async def through(stage, *script) -> int:
    """Deliver what is in the queue until the execution has ended; answers how many deliveries it took."""
    stage.model = ScriptedModel(script)
    await stage.queue.enqueue("e", slice=0)
    deliveries = 0
    while (delivery := stage.queue.take()) is not None:
        stage.clock.turn(delivery.after)
        deliveries += 1
        assert await deliver(stage.deps(), "e", slice=delivery.slice, holder=f"h{deliveries}")
    return deliveries


async def test_a_slice_that_is_over_hands_over_between_two_calls(stage):
    stage.on_call = slow(stage, 10)
    short(stage, 15)
    assert await through(stage, fetches(4), says("done")) == 3
    assert [ticket.seq for ticket in stage.executed] == [0, 1, 2, 3]
    assert (stage.execution.status, stage.execution.slice) == (Status.COMPLETED, 2)


async def test_no_lease_is_held_between_slices(stage):
    stage.on_call = slow(stage, 10)
    short(stage, 5)
    await stage.run(fetches(2))
    assert stage.execution.lease.expires_at == stage.clock.now()


async def test_what_an_earlier_slices_holder_writes_is_not_taken(stage):
    stage.on_call = slow(stage, 10)
    short(stage, 5)
    await stage.run(fetches(2))
    with pytest.raises(StaleError):
        await stage.deps().executions.renew(stage.execution, now=stage.clock.now(), lease=timedelta(minutes=1))


async def test_an_older_slice_puts_the_next_one_into_the_queue_and_is_forgotten(stage):
    stage.on_call = slow(stage, 10)
    short(stage, 5)
    await stage.run(fetches(2))
    stage.queue = type(stage.queue)()  # whoever handed over died before it was in the queue
    assert await deliver(stage.deps(), "e", slice=0, holder="late")
    assert [delivery.slice for delivery in stage.queue.waiting] == [1]
    assert len(stage.executed) == 1


async def test_a_provider_that_says_when_to_come_again_is_waited_for_in_the_queue(stage):
    assert await stage.run(fetches(), UnavailableError("busy", after_s=90))
    waiting = stage.queue.take()
    assert (waiting.slice, waiting.after) == (1, timedelta(seconds=90))
    assert (stage.execution.pending_model_calls, stage.execution.credits_held) == (0, Decimal(0))


async def test_a_provider_is_not_waited_for_past_the_executions_end(stage):
    await stage.run(UnavailableError("busy", after_s=10 * 3600))
    assert stage.queue.take().after == timedelta(minutes=25, seconds=1)


async def test_five_hundred_calls_in_a_hundred_turns_outlast_a_function_of_three_seconds(stage):
    roomy = replace(PLANS["pro"], calls_per_execution=1_000, calls_per_minute=1_000, iterations=1_000)
    deps = stage.deps
    stage.deps = lambda: replace(deps(), plans={"pro": roomy}, execution_timeout=timedelta(hours=6), slice=timedelta(seconds=2))
    stage.task(max_iterations=1_000, max_credits=Decimal(2_000))
    stage.on_call = slow(stage, 0.05)
    turns = [
        says(f"turn {turn}", *[("http_get", {"url": f"https://a.test/{turn}/{call}"}) for call in range(5)])
        for turn in range(100)
    ]
    deliveries = await through(stage, *turns, says("done"))
    assert (stage.execution.status, stage.execution.output) == (Status.COMPLETED, "done")
    assert [ticket.seq for ticket in stage.executed] == list(range(500))
    assert deliveries > 10
