"""Calls that a limit of the plan refuses burn no turns: the others of their turn are not tried, and the next turn waits."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from ferryman.domain.executions.execution import Status
from ferryman.ports.errors import UnavailableError
from tests.loop.conftest import says
from tests.loop.test_limits import guru


def fetches(*numbers: int):
    """Return a reply that asks for the pages of these numbers."""
    return says("", *[("http_get", {"url": f"https://api.coingecko.com/{number}"}) for number in numbers])


def slowly(stage, seconds: float) -> None:
    """Have each call take so long."""
    before = stage.on_call

    def on_call(ticket):
        stage.clock.turn(timedelta(seconds=seconds))
        return before(ticket)

    stage.on_call = on_call


async def test_after_three_refusals_of_a_turn_its_other_calls_are_not_tried(stage):
    guru(stage)
    await stage.run(fetches(*range(15)), says("done"))
    assert [result.block_reason for result in stage.results] == [None] * 10 + ["rate_limited"] * 5
    assert ["not tried" in result.content for result in stage.results[10:]] == [False] * 3 + [True] * 2


async def test_a_turn_of_refusals_alone_waits_until_the_window_opens(stage):
    guru(stage)
    slowly(stage, 2)
    await stage.run(fetches(*range(10)), fetches(10, 11), says("never"))
    assert stage.model.remaining == 1
    assert stage.queue.take().after == timedelta(seconds=41)


async def test_what_was_refused_for_the_rate_is_admitted_after_the_wait(stage):
    guru(stage)
    await stage.run(fetches(*range(10)), fetches(10), says("never"))
    stage.clock.turn(stage.queue.take().after)
    await stage.run(fetches(10), says("done"))
    assert (stage.execution.status, len(stage.executed)) == (Status.COMPLETED, 11)


async def test_no_credit_is_spent_while_it_waits(stage):
    guru(stage)
    await stage.run(fetches(*range(10)), fetches(10), says("never"))
    assert stage.execution.credits_held == 0
    assert stage.execution.lease.expires_at <= stage.clock.now()


async def test_a_delivery_that_comes_early_waits_for_the_rest(stage):
    guru(stage)
    await stage.run(fetches(*range(10)), fetches(10), says("never"))
    stage.queue.take()
    stage.clock.turn(20)
    await stage.run(says("never"))
    assert (stage.model.prompts, stage.queue.take().after) == ([], timedelta(seconds=41))


async def test_a_turn_with_one_answer_does_not_wait(stage):
    guru(stage)
    await stage.run(fetches(*range(11)), says("done"))
    assert stage.execution.status is Status.COMPLETED


async def test_nobody_waits_past_the_end_of_the_execution(stage):
    guru(stage)
    deps = stage.deps
    stage.deps = lambda: replace(deps(), execution_timeout=timedelta(seconds=50))
    await stage.run(fetches(*range(10)), fetches(10), says("with what I have"))
    assert stage.execution.output == "with what I have"


async def test_a_call_that_was_refused_for_the_rate_is_none_that_was_made(stage):
    guru(stage)
    await stage.run(fetches(*range(11)), fetches(10), says("never"))
    stage.clock.turn(stage.queue.take().after)
    await stage.run(fetches(10), says("done"))
    assert [result.block_reason for result in stage.results[10:]] == ["rate_limited", "rate_limited", None]


async def test_when_all_calls_are_used_up_a_turn_of_refusals_is_followed_by_the_answer(stage):
    guru(stage)
    slowly(stage, 7)
    await stage.run(fetches(*range(10)), fetches(*range(10, 20)), fetches(20, 21), says("with what I have"))
    assert [prompt.closing for prompt in stage.model.prompts] == [False, False, False, True]
    assert (stage.execution.status, stage.execution.output) == (Status.COMPLETED, "with what I have")


async def test_an_answer_that_is_missing_after_the_last_call_is_explained(stage):
    guru(stage)
    slowly(stage, 7)
    await stage.run(fetches(*range(10)), fetches(*range(10, 20)), fetches(20), says("", ("http_get", {})))
    assert stage.execution.output == "The limit of API calls was reached before there was an answer."


async def test_the_same_is_asked_for_after_an_interruption(stage):
    guru(stage)
    slowly(stage, 7)
    await stage.run(fetches(*range(10)), fetches(*range(10, 20)), fetches(20), UnavailableError("busy"))
    await stage.run(says("done"))
    assert [prompt.closing for prompt in stage.model.prompts] == [True]


async def test_every_delivery_tells_the_same_seconds(stage):
    other = type(stage)()
    for both in (stage, other):
        guru(both)
        both._execute = delay_claims(both, seconds=0.7)
    await stage.run(fetches(*range(11)), says("done"))
    await other.run(fetches(*range(11)), UnavailableError("busy"))
    assert other.results[10].content == stage.results[10].content


async def test_the_window_begins_when_its_first_call_was_sent(stage):
    guru(stage)
    stage._execute = delay_claims(stage, seconds=0.7)
    await stage.run(fetches(*range(10)), fetches(10), says("never"))
    sent_at = stage.memory.tickets["e"][0].sent_at
    opens_at = stage.clock.now() + stage.queue.take().after
    assert timedelta(seconds=60) < opens_at - sent_at <= timedelta(seconds=61)


def delay_claims(stage, *, seconds: float):
    """Return the tools of the stage, which a call reaches some time after it was admitted."""
    execute = stage._execute

    async def execute_late(ticket, *, execution):
        stage.clock.turn(timedelta(seconds=seconds))
        return await execute(ticket, execution=execution)

    return execute_late
