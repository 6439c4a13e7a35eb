"""A provider that is not reached: what was never sent costs nothing, and why it failed is told."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace
from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from ferryman.domain.executions.execution import ModelTrouble, Status
from ferryman.ports.errors import RejectedError, UnavailableError, UnreachedError
from tests.loop.conftest import Stage, fetches, says
from tests.loop.test_money import TURN, settled

CAUSE = "the model's provider was not reached: it refused the connection"
LOST = UnavailableError("gone", lost=True)


def unreached(attempts: int = 3) -> UnreachedError:
    error = UnreachedError(CAUSE)
    error.attempts = attempts
    return error


async def test_a_provider_that_was_not_reached_costs_nothing_more(stage):
    for _ in range(9):
        assert not await stage.run(unreached())
        assert stage.execution.credits_held == 0
    await stage.run(says("done"))
    assert (stage.execution.status, settled(stage)) == (Status.COMPLETED, TURN)


async def test_a_provider_that_is_never_reached_ends_the_execution_for_nothing(stage):
    for _ in range(9):
        assert not await stage.run(unreached())
    assert await stage.run(unreached())
    assert (stage.execution.status, settled(stage)) == (Status.FAILED, Decimal(0))


async def test_the_end_tells_why_it_was_not_reached_and_how_often(stage):
    await stage.run(unreached(attempts=30))
    assert stage.execution.error == f"{CAUSE}; 30 attempts cost nothing"


async def test_how_often_and_why_is_stored_while_it_happens(stage):
    await stage.run(unreached())
    await stage.run(UnavailableError("busy"))
    assert stage.execution.model_trouble == ModelTrouble(attempts=4, unreached=3, cause="busy")


async def test_a_turn_that_is_committed_forgets_the_trouble_before_it(stage):
    await stage.run(unreached(attempts=29), fetches())
    await stage.run(fetches(), unreached(attempts=2))
    assert stage.execution.model_trouble == ModelTrouble(attempts=2, unreached=2, cause=CAUSE)


async def test_an_answer_that_was_lost_before_stays_charged(stage):
    await stage.run(LOST)
    worst = stage.execution.credits_held
    await stage.run(unreached(attempts=30))
    assert (stage.execution.status, settled(stage)) == (Status.FAILED, worst)


async def test_an_instance_that_dies_before_it_hears_that_nothing_was_sent_counts_it_as_sent(stage):
    await run_once(stage, Death())
    assert (stage.execution.pending_model_calls, stage.execution.credits_held > 0) == (1, True)


class ConnectingModel:
    """A model whose provider is not reached while anybody waits; being cancelled, it says whether anything was sent."""

    def __init__(self, stage, *, sent):
        self.stage, self.sent = stage, sent

    async def reply(self, prompt):
        self.stage.memory.halts.add("o")
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if self.sent:
                raise
            raise UnreachedError(CAUSE) from None


async def test_a_kill_switch_while_a_connection_is_tried_costs_nothing(stage):
    stage.model = ConnectingModel(stage, sent=False)
    await stage.run()
    assert (stage.execution.status, settled(stage), stage.execution.credits_held) == (Status.KILLED, 0, 0)


async def test_a_kill_switch_after_a_request_was_sent_costs_the_worst_case(stage):
    stage.model = ConnectingModel(stage, sent=True)
    await stage.run()
    assert stage.execution.status is Status.KILLED
    assert settled(stage) > 0


class Death(BaseException):
    """The instance dies while the model is asked: nobody learns what became of it."""


class DyingModel:
    """A model whose request is the last thing that an instance does."""

    async def reply(self, prompt):
        raise Death


async def run_once(stage, outcome) -> None:
    """Deliver the execution once; its first model call ends with `outcome`, the second finds the provider busy."""
    if not isinstance(outcome, Death):
        await stage.run(outcome, UnavailableError("busy"))
        return
    stage.model = DyingModel()
    with contextlib.suppress(Death):
        await stage.run()
    stage.clock.turn(130)  # the lease that nobody gave up has expired


TOKENS = st.integers(0, 3_000)
OUTCOMES = st.one_of(
    st.builds(lambda calls, tokens: replace(fetches(calls), usage=says(tokens=tokens).usage), st.integers(1, 3), TOKENS),
    st.builds(unreached, st.integers(1, 3)),
    st.sampled_from([UnavailableError("busy"), UnavailableError("busy", after_s=5), LOST, Death()]),
)
ENDS = st.sampled_from([says("done"), RejectedError("no"), RejectedError("unreadable", lost=True), RuntimeError("ours")])


async def spend(outcomes: list[object], *, most: Decimal) -> Decimal:
    """Return what an execution costs whose model calls end so; after each, nothing is overspent."""
    stage = Stage()
    stage.task(max_credits=most)
    for outcome in outcomes:
        if stage.execution.status.terminal:
            break
        await run_once(stage, outcome)
        assert stage.execution.credits_used + stage.execution.credits_held <= most
    assert stage.execution.credits_used <= most
    return settled(stage) if stage.execution.status.terminal else stage.execution.credits_used + stage.execution.credits_held


@settings(max_examples=40, deadline=None)
@given(st.lists(OUTCOMES, max_size=8), ENDS, st.sampled_from([Decimal(20), Decimal(100)]))
async def test_attempts_that_reached_nobody_change_no_credit_and_nothing_is_overspent(outcomes, end, most):
    sent = [outcome for outcome in outcomes if not isinstance(outcome, UnreachedError)]
    assert await spend([*outcomes, end], most=most) == await spend([*sent, end], most=most)
