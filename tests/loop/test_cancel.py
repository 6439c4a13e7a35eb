"""Cancel: what was not sent is not sent."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import TicketState, ToolCallResult
from ferryman.domain.executions.execution import Status
from ferryman.domain.executions.postponement import Postponement
from ferryman.domain.stale import StaleError
from ferryman.inmemory.executions import MemoryExecutions
from ferryman.inmemory.model import ScriptedModel
from ferryman.loop.run import deliver
from ferryman.ports.errors import UnavailableError
from ferryman.tools.registry import ToolRegistry
from tests.loop.conftest import fetches, says


def cancel(stage) -> None:
    stage.memory.executions["e"] = replace(stage.execution, cancel_requested=True)


async def test_a_cancel_before_the_next_model_call_kills_the_execution(stage):
    def on_call(ticket):
        cancel(stage)
        return ToolCallResult(ticket.tool, "sent", response_status=200)

    stage.on_call = on_call
    await stage.run(fetches(), says("never"))
    assert (stage.execution.status, stage.execution.error, len(stage.model.prompts)) == (Status.KILLED, "cancelled", 1)


async def test_a_call_that_was_sent_finishes_and_those_after_it_are_not_sent(stage):
    def on_call(ticket):
        cancel(stage)
        return ToolCallResult(ticket.tool, "sent", response_status=200)

    stage.on_call = on_call
    await stage.run(fetches(3), says("never"))
    assert len(stage.executed) == 1
    assert [result.block_reason for result in stage.results] == [None, "cancelled", "cancelled"]


async def test_every_call_of_a_killed_execution_is_in_the_audit_list_once(stage):
    def on_call(ticket):
        cancel(stage)
        return ToolCallResult(ticket.tool, "sent", response_status=200)

    stage.on_call = on_call
    await stage.run(fetches(3), says("never"))
    assert stage.execution.tool_calls_total == 3


async def test_a_task_disabled_under_way_sends_no_further_call(stage):
    def on_call(ticket):
        stage.task(enabled=False)
        return ToolCallResult(ticket.tool, "sent", response_status=200)

    stage.on_call = on_call
    await stage.run(fetches(2), says("never"))
    assert (len(stage.executed), stage.execution.error) == (1, "the task was disabled or deleted")
    assert stage.execution.status is Status.FAILED


async def test_a_task_disabled_under_way_is_not_gone_on_with(stage):
    def on_call(ticket):
        stage.task(enabled=False)
        return ToolCallResult(ticket.tool, "sent", response_status=200)

    stage.on_call = on_call
    await stage.run(fetches(), says("never"))
    assert (stage.execution.status, len(stage.model.prompts)) == (Status.FAILED, 1)


async def test_a_cancel_while_a_holder_hands_over_for_long_is_not_lost(stage):
    await stage.run(fetches(), UnavailableError("busy", after_s=1_200))
    cancel(stage)
    assert await deliver(stage.deps(), "e", slice=0, holder="the cancel's own delivery")
    assert [(delivery.slice, delivery.wake_up) for delivery in stage.queue.waiting] == [(1, ""), (1, "cancel")]


@pytest.mark.parametrize(("method", "in_doubt"), [("POST", True), ("GET", False)])
async def test_a_call_that_was_sent_and_not_answered_by_its_deadline_is_in_doubt_if_it_may_have_had_an_effect(
    stage, method, in_doubt
):
    stage.on_call = lambda ticket: UnavailableError("gone")
    await stage.run(says("So far.", ("api_call", {"url": "https://a.test/", "method": method}), ("http_get", {})))
    cancel(stage)
    stage.clock.turn(35)
    assert await stage.run()
    sent, pending = stage.memory.tickets["e"].values()
    assert (sent.result.content, sent.result.url, sent.in_doubt) == (refusal.IN_DOUBT.message, "https://a.test/", in_doubt)
    assert (pending.result.block_reason, pending.in_doubt) == ("cancelled", False)
    assert (stage.execution.status, stage.execution.output) == (Status.KILLED, "So far.")
    assert stage.execution.tool_calls_total == 2


async def test_until_its_deadline_such_a_call_is_waited_for(stage):
    stage.on_call = lambda ticket: UnavailableError("gone")
    await stage.run(fetches())
    cancel(stage)
    stage.clock.turn(34)
    assert await stage.run()
    assert (stage.execution.status, stage.queue.take().after) == (Status.RUNNING, timedelta(seconds=1))


async def test_a_call_that_another_delivery_has_answered_keeps_its_answer(stage):
    answer = ToolCallResult("http_get", "theirs", response_status=200)

    def on_call(ticket):
        settled = replace(ticket, state=TicketState.SETTLED, settled_at=stage.clock.now(), result=answer)
        stage.memory.tickets["e"][ticket.seq] = settled
        cancel(stage)
        return StaleError("the call is already under way")

    stage.on_call = on_call
    assert await stage.run(fetches(2))
    assert [result.content for result in stage.results] == ["theirs", refusal.EXECUTION_ENDED.message]
    assert (stage.execution.status, stage.execution.error) == (Status.KILLED, "cancelled")


async def test_a_call_that_another_delivery_has_under_way_is_left_to_it(stage):
    stage.on_call = lambda ticket: StaleError("the call is already under way")
    assert not await stage.run(fetches())
    reason = "the call is already on its way under another delivery"
    assert ("delivery.paused", {"execution": "e", "reason": reason}) in stage.log.lines
    assert stage.execution.status is Status.RUNNING


async def test_a_call_of_a_disabled_task_that_its_tool_refuses_to_take_ends_the_execution(stage):
    def on_call(ticket):
        stage.task(enabled=False)
        stage.clock.turn(35)
        return StaleError("the execution was ended")

    stage.on_call = on_call
    assert await stage.run(fetches())
    assert (stage.execution.status, stage.execution.error) == (Status.FAILED, "the task was disabled or deleted")


async def test_a_lease_that_a_refused_call_finds_is_renewed_for_its_whole_length(stage):
    def on_call(ticket):
        stage.clock.turn(60)
        return StaleError("the call is already under way")

    stage.on_call = on_call
    leases = []
    give_up = MemoryExecutions.give_up

    class Watching(MemoryExecutions):
        async def give_up(self, execution, *, now):
            leases.append(stage.execution.lease.expires_at)
            await give_up(self, execution, now=now)

    deps = stage.deps
    stage.deps = lambda: replace(deps(), executions=Watching(stage.memory))
    await stage.run(fetches())
    assert leases == [stage.clock.now() + timedelta(minutes=2)]


async def test_a_call_under_way_when_the_owner_cancels_is_waited_for(stage):
    stage.on_call = lambda ticket: UnavailableError("gone")
    await stage.run(fetches())
    cancel(stage)
    await stage.run()
    assert stage.execution.status is Status.RUNNING
    ticket = stage.memory.tickets["e"][0]
    late = ToolCallResult("http_get", "it arrived", response_status=200)
    stage.memory.tickets["e"][0] = replace(ticket, state=TicketState.SETTLED, settled_at=stage.clock.now(), result=late)
    assert await stage.run()
    assert (stage.execution.status, stage.results[0].content) == (Status.KILLED, "it arrived")


async def wait_for_later(stage, cause):
    """Have a call wait for ten minutes, then let `cause` happen, and deliver the slice that comes next at once."""

    async def wait(ticket, *, execution):
        return Postponement(reason="it waits", after=timedelta(minutes=10))

    stage.model = ScriptedModel((fetches(), says("never")))
    deps = replace(stage.deps(), registry=ToolRegistry(wait))
    assert await deliver(deps, "e", slice=0, holder="h")
    assert (stage.execution.status, stage.execution.slice) == (Status.RUNNING, 1)
    cause()
    assert await deliver(deps, "e", slice=1, holder="woken")


async def test_a_call_that_waits_for_its_time_does_not_wait_after_a_cancel(stage):
    await wait_for_later(stage, lambda: cancel(stage))
    assert (stage.execution.status, stage.execution.error) == (Status.KILLED, "cancelled")


async def test_a_call_that_waits_for_its_time_does_not_wait_after_its_task_was_disabled(stage):
    await wait_for_later(stage, lambda: stage.task(enabled=False))
    assert (stage.execution.status, stage.execution.error) == (Status.FAILED, "the task was disabled or deleted")


async def test_a_call_that_waits_for_its_time_does_not_wait_after_a_halt(stage):
    await wait_for_later(stage, lambda: stage.memory.halts.add("o"))
    assert stage.execution.status is Status.KILLED
