"""Lost answers: what a model call costs whose answer never came, and how often it is asked for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ferryman.domain.executions.execution import Status
from ferryman.loop.turn import MODEL_ATTEMPTS_MAX
from ferryman.ports.errors import UnavailableError
from tests.loop.conftest import fetches, says

LOST = UnavailableError("the connection broke", lost=True)


@pytest.mark.parametrize("times", range(1, MODEL_ATTEMPTS_MAX))
async def test_a_turn_whose_answer_was_lost_is_asked_for_again_and_paid_for_once(stage, times):
    whole = type(stage)()
    await whole.run(says("done"))
    for _ in range(times):
        assert not await stage.run(LOST)
    assert await stage.run(says("done"))
    assert (stage.execution.status, stage.execution.output) == (Status.COMPLETED, "done")
    assert stage.execution.credits_used == whole.execution.credits_used


async def test_after_five_lost_answers_it_is_not_asked_for_again(stage):
    for _ in range(MODEL_ATTEMPTS_MAX):
        assert not await stage.run(LOST)
        assert len(stage.model.prompts) == 1
    assert await stage.run(says("never"))
    assert stage.model.prompts == []
    assert stage.execution.status is Status.FAILED
    assert stage.execution.error == "the model was asked 5 times, and every answer was lost: the connection broke"


async def test_of_five_lost_answers_the_worst_case_of_one_is_charged(stage):
    for _ in range(MODEL_ATTEMPTS_MAX):
        await stage.run(LOST)
    worst = stage.execution.credits_held
    await stage.run(says("never"))
    assert worst > 0
    assert stage.execution.credits_used == worst
    balances = stage.memory.balances
    assert [(balance.credits_used, balance.credits_reserved) for balance in balances.values()] == [(worst, 0)]


async def test_a_later_turn_whose_answers_are_lost_adds_its_worst_case_to_what_was_used(stage):
    await stage.run(fetches(), LOST)
    used = stage.execution.credits_used
    for _ in range(MODEL_ATTEMPTS_MAX - 1):
        assert not await stage.run(LOST)
    worst = stage.execution.credits_held
    assert await stage.run(says("never"))
    assert (stage.execution.status, stage.execution.credits_used) == (Status.FAILED, used + worst)


async def test_a_call_that_was_declined_costs_nothing_and_may_be_made_as_often_as_it_takes(stage):
    whole = type(stage)()
    await whole.run(says("done"))
    for _ in range(MODEL_ATTEMPTS_MAX + 3):
        assert not await stage.run(UnavailableError("overloaded"))
        assert stage.execution.credits_held == 0
    assert await stage.run(says("done"))
    assert stage.execution.credits_used == whole.execution.credits_used


async def test_an_answer_that_nobody_could_look_through_stays_asked_for(stage):
    await stage.run(LOST)
    policy = replace(stage.execution.policy, credentials=("KEY",))
    stage.memory.executions["e"] = replace(stage.execution, policy=policy)

    def refuse_scan(_):
        raise UnavailableError("the key holder is away")

    stage.on_scan = refuse_scan
    assert not await stage.run(says("unseen"))
    assert stage.execution.pending_model_calls == 2
    assert stage.execution.credits_held > 0


async def test_a_record_that_cannot_be_read_gives_back_what_was_set_aside_for_it(stage):
    await stage.run(fetches(), LOST)
    used, credits_held = stage.execution.credits_used, stage.execution.credits_held
    stage.memory.tickets["e"].clear()
    assert await stage.run()
    assert (stage.execution.status, stage.execution.credits_used) == (Status.FAILED, used + credits_held)
    assert [balance.credits_reserved for balance in stage.memory.balances.values()] == [0]
