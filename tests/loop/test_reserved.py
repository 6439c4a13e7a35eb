"""The model call that the opening, or a turn's commit, has reserved: who dies on the way to it, and what that costs."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.executions.execution import Status
from ferryman.domain.stale import StaleError
from ferryman.inmemory.executions import MemoryExecutions
from ferryman.inmemory.model import ScriptedModel
from ferryman.ports.errors import UnavailableError
from tests.loop.conftest import fetches, says
from tests.loop.test_allowance import spend
from tests.loop.test_money import TURN, settled

LEASE = timedelta(minutes=2)


class Death(BaseException):
    """The instance dies: nothing of it is tidied up."""


class Watching(MemoryExecutions):
    """Notes how each model call was reserved, and dies at an operation, after it has met `after` of them."""

    def __init__(self, stage: Any, *, dies_at: str = "", after: int = 0) -> None:
        super().__init__(stage.memory)
        self.reservations: list[str] = []
        self._dies_at, self._after = dies_at, after

    async def check(self, execution, *, now):
        self._meet("check")
        return await super().check(execution, now=now)

    async def ask(self, execution, *, now, lease):
        self._meet("ask")
        return await super().ask(execution, now=now, lease=lease)

    async def finish(self, execution, ending, *, now):
        self._meet("finish")
        return await super().finish(execution, ending, now=now)

    def _meet(self, operation: str) -> None:
        if operation == self._dies_at and len(self.reservations) == self._after:
            raise Death
        self.reservations.append(operation)


class Mortal(ScriptedModel):
    """Dies once it was asked for everything in its script."""

    async def reply(self, prompt):
        return await super().reply(prompt) if self.remaining else await self._die(prompt)

    async def _die(self, prompt):
        self.prompts.append(prompt)
        raise Death


def watch(stage, **how: Any) -> Watching:
    executions, deps = Watching(stage, **how), type(stage).deps
    stage.deps = lambda: replace(deps(stage), executions=executions)
    return executions


async def die(stage, *script, **how: Any) -> None:
    """Run a delivery that dies, and let its lease expire."""
    watch(stage, **how)
    if not how:
        stage.model = Mortal(script)
    with pytest.raises(Death):
        await stage.run(*(script if how else ()))
    stage.clock.turn(LEASE + timedelta(seconds=1))
    watch(stage)


async def test_a_turn_is_one_write_of_the_execution(stage):
    executions = watch(stage)
    await stage.run(fetches(), fetches(2), says("done"))
    assert executions.reservations == ["check", "check", "check", "finish"]


async def test_who_dies_between_the_opening_and_its_first_model_call_may_have_made_it(stage):
    await die(stage, fetches(), dies_at="check")
    executions = watch(stage)
    assert stage.execution.pending_model_calls == 1
    await stage.run(says("done"))
    assert executions.reservations == ["ask", "finish"]
    assert (stage.execution.status, settled(stage)) == (Status.COMPLETED, TURN)


async def test_the_last_turn_reserves_nothing(stage):
    stage.deps = lambda deps=stage.deps: replace(deps(), executions=Watching(stage, dies_at="finish", after=1))
    with pytest.raises(Death):
        await stage.run(says("done"))
    assert (stage.execution.pending_model_calls, stage.execution.credits_held) == (0, 0)


async def test_who_finds_calls_unsettled_uses_the_reservation_that_nobody_has_used(stage):
    def on_call(ticket):
        raise Death

    stage.on_call = on_call
    await die(stage, fetches(), dies_at="nowhere")
    stage.on_call = lambda ticket: ToolCallResult(ticket.tool, "answer", response_status=200)
    executions = watch(stage)
    await stage.run(says("done"))
    assert executions.reservations == ["check", "finish"]
    assert settled(stage) == 2 * TURN


@pytest.mark.parametrize("dies_at", ["check", ""])
async def test_a_call_that_may_have_been_made_counts_as_one_that_was_lost(stage, dies_at):
    await die(stage, fetches(), **({"dies_at": dies_at, "after": 1} if dies_at else {}))
    executions, model_calls = watch(stage), []

    class Looking(ScriptedModel):
        async def reply(self, prompt):
            model_calls.append(stage.execution.pending_model_calls)
            return await super().reply(prompt)

    stage.model = Looking([says("done")])
    await stage.run()
    assert (executions.reservations, model_calls) == (["ask", "finish"], [2])
    assert (stage.execution.status, settled(stage)) == (Status.COMPLETED, 2 * TURN)


@pytest.mark.parametrize("dies_at", ["check", ""])
async def test_a_call_that_may_have_been_made_costs_its_own_worst_case_where_no_answer_follows(stage, dies_at):
    lost = type(stage)()
    await lost.run(fetches(), UnavailableError("gone", lost=True))
    await die(stage, fetches(), **({"dies_at": dies_at, "after": 1} if dies_at else {}))
    for either in (lost, stage):
        either.memory.executions["e"] = replace(either.execution, cancel_requested=True)
        await either.run(says("never"))
    assert stage.execution.status is Status.KILLED
    assert settled(stage) == settled(lost) > TURN


async def test_of_calls_that_were_settled_for_the_end_no_model_call_follows(stage):
    def on_call(ticket):
        stage.memory.executions["e"] = replace(stage.execution, cancel_requested=True)
        return ToolCallResult(ticket.tool, "sent", response_status=200)

    stage.on_call = on_call
    await die(stage, fetches(2), dies_at="finish", after=1)
    await stage.run(says("never"))
    assert (stage.execution.status, settled(stage)) == (Status.KILLED, TURN)


async def test_credits_that_do_not_pay_for_another_call_are_not_charged_for_one(stage):
    await die(stage, spend("99"), dies_at="finish", after=1)
    used = stage.execution.credits_used
    await stage.run(says("never"))
    assert (stage.execution.status, settled(stage)) == (Status.FAILED, used)


async def test_after_five_deaths_amid_a_turn_it_is_not_asked_for_again(stage):
    await die(stage, fetches())
    for _ in range(4):
        await die(stage)
    await stage.run(says("never"))
    assert stage.model.prompts == []
    assert stage.execution.error == "the model was asked 5 times, and every answer was lost: the instance ended while it waited"


async def test_what_is_handed_over_unasked_is_not_held(stage):
    await stage.run(fetches(), UnavailableError("busy", after_s=1))
    assert (stage.execution.pending_model_calls, stage.execution.credits_held) == (0, 0)


async def test_a_lease_that_is_more_than_half_over_is_renewed_before_the_model_is_asked(stage):
    def on_call(ticket):
        stage.clock.turn(61)
        return ToolCallResult(ticket.tool, "late", response_status=200)

    stage.on_call = on_call
    executions = watch(stage)
    await stage.run(fetches(), says("done"))
    assert executions.reservations == ["check", "ask", "finish"]


async def test_who_lost_the_lease_asks_nothing(stage):
    def on_call(ticket):
        stage.memory.executions["e"] = replace(stage.execution, lease=replace(stage.execution.lease, epoch=9))
        return ToolCallResult(ticket.tool, "late", response_status=200)

    stage.on_call = on_call
    assert not await stage.run(fetches(), says("never"))
    assert len(stage.model.prompts) == 1


async def test_a_reservation_is_checked_by_who_holds_the_lease_alone(stage):
    await stage.run(fetches(), UnavailableError("busy", after_s=1))
    with pytest.raises(StaleError):
        await MemoryExecutions(stage.memory).check(stage.execution, now=stage.clock.now())
