"""Cancel: what was not sent is not sent."""

from __future__ import annotations

from dataclasses import replace

from ferryman.domain.calls.call import TicketState, ToolCallResult
from ferryman.domain.executions.execution import Status
from ferryman.loop.run import deliver
from ferryman.ports.errors import UnavailableError
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
