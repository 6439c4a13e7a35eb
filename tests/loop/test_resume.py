"""Resuming: a later delivery goes on from the journal, and repeats nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from ferryman.domain.calls.call import Ticket, TicketState, ToolCallResult
from ferryman.domain.executions.execution import Status
from ferryman.ports.errors import UnavailableError
from tests.loop.conftest import fetches, says


async def test_the_messages_are_rebuilt_as_they_were(stage):
    await stage.run(fetches(2), UnavailableError("busy"))
    interrupted = stage.model.prompts[-1].messages
    await stage.run(says("done"))
    assert list(stage.model.prompts[0].messages) == list(interrupted)


async def test_a_settled_call_is_replayed_and_not_executed_again(stage):
    def on_call(ticket: Ticket):
        return UnavailableError("gone") if ticket.seq == 1 else ToolCallResult(ticket.tool, "first", response_status=200)

    stage.on_call = on_call
    assert not await stage.run(fetches(2))
    stage.on_call = lambda ticket: ToolCallResult(ticket.tool, "again", response_status=200)
    stage.clock.turn(60)
    await stage.run(says("done"))
    assert [ticket.seq for ticket in stage.executed] == [0, 1, 1]
    assert [result.content for result in stage.results] == ["first", "again"]


async def test_a_call_that_was_sent_and_never_answered_is_waited_for(stage):
    stage.on_call = lambda ticket: UnavailableError("gone")
    assert not await stage.run(fetches())
    assert await stage.run(says("never"))
    assert (stage.execution.status, len(stage.executed)) == (Status.RUNNING, 1)
    waiting = stage.queue.take()
    assert (waiting.slice, waiting.after) == (1, timedelta(seconds=35))


async def test_after_its_deadline_such_a_call_goes_to_its_tool_again_which_knows_whether_it_may_be_repeated(stage):
    stage.on_call = lambda ticket: UnavailableError("gone")
    await stage.run(fetches())
    stage.clock.turn(60)
    stage.on_call = lambda ticket: ToolCallResult(ticket.tool, "in doubt")
    assert await stage.run(says("done"))
    assert [ticket.attempt for ticket in stage.executed] == [1, 2]
    assert stage.results[0].content == "in doubt"


async def test_credits_and_audit_rows_are_counted_once_over_an_interruption(stage):
    stage.on_call = lambda ticket: ToolCallResult("api_call", "", credential_used="KEY", response_status=200)
    whole = type(stage)()
    whole.on_call = stage.on_call
    script = says("", ("api_call", {}), ("api_call", {}))
    await whole.run(script, says("done"))
    await stage.run(script, UnavailableError("busy"))
    await stage.run(says("done"))
    assert stage.execution.credits_used == whole.execution.credits_used
    assert stage.execution.tool_calls == whole.execution.tool_calls


async def test_a_turn_that_ended_the_execution_is_not_asked_for_again(stage):
    await stage.run(says("done"))
    lease = replace(stage.execution, status=Status.RUNNING, output=None, completed_at=None)
    stage.memory.executions["e"] = lease
    assert await stage.run()
    assert (stage.execution.output, len(stage.model.prompts)) == ("done", 1)


async def test_a_holder_whose_lease_has_passed_writes_nothing(stage):
    def on_call(ticket):
        lease = replace(stage.execution.lease, epoch=9)
        stage.memory.executions["e"] = replace(stage.execution, lease=lease)
        return ToolCallResult(ticket.tool, "late", response_status=200)

    stage.on_call = on_call
    assert not await stage.run(fetches(), says("never"))
    assert stage.execution.status is Status.RUNNING
    assert len(stage.memory.steps["e"]) == 1


async def test_an_unfinished_ticket_is_stamped_with_the_new_epoch(stage):
    stage.on_call = lambda ticket: UnavailableError("gone")
    await stage.run(fetches(2))
    await stage.run(says("never"))
    epochs = {ticket.state: ticket.epoch for ticket in stage.memory.tickets["e"].values()}
    assert epochs == {TicketState.SENT: 2, TicketState.INTENDED: 2}
