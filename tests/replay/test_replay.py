"""A replay runs the loop again from a record and comes to the same, byte for byte, however the execution went."""

from __future__ import annotations

import json
import socket
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import TicketState, ToolCallResult
from ferryman.domain.executions.execution import Status
from ferryman.domain.executions.message import canonicalize_prompt
from ferryman.inmemory.executions import MemoryExecutions
from ferryman.loop.run import deliver
from ferryman.ports.errors import RejectedError, UnavailableError
from ferryman.ports.tickets import CallRequest
from ferryman.replay import NotEndedError, run_replay
from ferryman.replay.offline import OfflineError, block_network
from ferryman.serving import bundle
from tests.loop.conftest import fetches, says
from tests.loop.test_cancel import cancel
from tests.loop.test_limits import guru
from tests.loop.test_unreached import unreached
from tests.replay.conftest import document, otherwise


async def went_on(stage, *scripts, by=60):
    """Deliver until it has ended, with a script for each delivery, `by` seconds apart."""
    for script in scripts:
        await stage.run(*script)
        stage.clock.turn(by)
    for _ in range(20):
        if stage.execution.status.terminal:
            return
        await deliver(stage.deps(), "e", slice=stage.execution.slice, holder="h")
        stage.clock.turn(by)
    raise AssertionError("it did not end")


def slowly(stage, seconds=3):
    """Have each call take its time."""
    before = stage.on_call

    def on_call(ticket):
        stage.clock.turn(seconds)
        return before(ticket)

    stage.on_call = on_call


async def test_an_answer_without_calls(stage):
    await stage.run(says("done"))
    assert await otherwise(stage) == []


async def test_turns_calls_and_their_times(stage):
    slowly(stage)
    await stage.run(fetches(3), fetches(2), says("done"))
    assert await otherwise(stage) == []


async def test_calls_of_a_tool_that_leaves_them_to_others(stage):
    stage.task(tools=("http_request", "http_get"))
    url = {"url": "https://api.coingecko.com/a", "query": {"q": 1}}
    calls = ({}, {"method": "POST", "body": {}}, {"method": "PATCH"}, {"credential": "KEY"})
    await stage.run(says("", *(("http_request", {**url, **arguments}) for arguments in calls)), says("done"))
    assert [ticket.called_as for _, ticket in sorted(stage.memory.tickets["e"].items())] == [
        *["http_request"] * 2,
        None,
        "http_request",
    ]
    assert await otherwise(stage) == []


async def test_what_the_model_is_asked_is_the_same_to_the_byte(stage):
    await stage.run(fetches(2), says("", ("api_call", {"b": 1.5, "a": [None, "ü\n"]})), says("done"))
    recorded_prompts = [canonicalize_prompt(prompt.system, prompt.tools, prompt.messages) for prompt in stage.model.prompts]
    replayed = await run_replay(bundle.parse_record(document(stage)).record)
    assert [
        canonicalize_prompt(recorded.system, recorded.tools, recorded.messages) for recorded in replayed.prompts
    ] == recorded_prompts


async def test_refusals_of_the_loop(stage):
    guru(stage)
    slowly(stage)
    same = ("http_get", {"url": "https://a.test/"})
    await stage.run(says("", ("nothing", {}), ("webhook", {}), same, same, same), fetches(11), says("done"))
    assert {"unknown_tool", "tool_not_enabled", "repeated_call", "rate_limited"} <= {
        result.block_reason for result in stage.results
    }
    assert await otherwise(stage) == []


async def test_a_wait_for_the_rate(stage):
    guru(stage)
    slowly(stage)
    await went_on(stage, (fetches(11), says("", ("http_get", {"n": 1})), says("never")), (fetches(5), says("done")))
    assert stage.execution.slice == 1
    assert await otherwise(stage) == []


async def test_a_wait_for_the_rate_that_a_late_delivery_was_spared(stage):
    guru(stage)
    original = stage.deps

    class Dying(MemoryExecutions):
        async def settle(self, *arguments, **named):
            await super().settle(*arguments, **named)
            raise UnavailableError("the instance dies before it waits")

    stage.deps = lambda: replace(original(), executions=Dying(stage.memory))
    assert not await stage.run(fetches(10), says("", ("http_get", {"n": 1})), says("never"))
    stage.deps = original
    stage.clock.turn(90)
    await went_on(stage, (says("done"),))
    assert stage.execution.slice == 0
    assert await otherwise(stage) == []


async def test_the_answer_that_is_asked_for_when_all_calls_are_used_up(stage):
    guru(stage, calls_per_execution=2)
    await stage.run(fetches(2), fetches(1), says("", ("http_get", {"n": 1})))
    assert stage.execution.output == "The limit of API calls was reached before there was an answer."
    assert await otherwise(stage) == []


async def test_a_refusal_of_the_gate(stage):
    stage.on_call = lambda ticket: ToolCallResult.from_refusal(ticket.tool, refusal.refuse_leak("KEY"), url="https://a.test/")
    await stage.run(fetches(), says("done"))
    assert await otherwise(stage) == []


async def test_the_closing_call_at_the_iteration_cap(stage):
    stage.task(max_iterations=2)
    await stage.run(fetches(), fetches(), says("so far", ("http_get", {})))
    assert await otherwise(stage) == []


async def test_fees_and_the_end_of_the_credits(stage):
    stage.on_call = lambda ticket: ToolCallResult("api_call", "", credential_used="KEY", response_status=200)
    stage.task(max_credits=Decimal(20))
    await stage.run(says("", ("api_call", {}), tokens=100), says("", ("api_call", {"n": 2}), tokens=1_000), says("never"))
    assert stage.execution.error.startswith("the credit limit")
    assert await otherwise(stage) == []


async def test_a_paid_call_the_credits_do_not_cover(stage):
    stage.task(max_credits=Decimal(20))
    await stage.run(says("", ("api_call", {}), tokens=1_085), says("done"))
    assert stage.results[0].block_reason == "credits_exhausted"
    assert await otherwise(stage) == []


@pytest.mark.parametrize("calls", [1, 3])
async def test_a_cancel(stage, calls):
    def on_call(ticket):
        stage.clock.turn(2)
        cancel(stage)
        return ToolCallResult(ticket.tool, "sent", response_status=200)

    stage.on_call = on_call
    await stage.run(fetches(calls), says("never"))
    assert (stage.execution.status, stage.execution.error) == (Status.KILLED, "cancelled")
    assert await otherwise(stage) == []


@pytest.mark.parametrize("whose", [None, "o"])
async def test_a_kill_switch(stage, whose):
    def on_call(ticket):
        stage.memory.halts.add(whose)
        return ToolCallResult(ticket.tool, "sent", response_status=200)

    stage.on_call = on_call
    await stage.run(fetches(2), says("never"))
    assert "kill switch" in stage.execution.error
    assert await otherwise(stage) == []


async def test_a_task_that_is_disabled_under_way(stage):
    def on_call(ticket):
        stage.task(enabled=False)
        return ToolCallResult(ticket.tool, "sent", response_status=200)

    stage.on_call = on_call
    await stage.run(fetches(2), says("never"))
    assert await otherwise(stage) == []


async def test_a_hand_over_while_the_provider_makes_it_wait(stage):
    await went_on(
        stage,
        (fetches(2), UnavailableError("busy", after_s=30)),
        (fetches(1), UnavailableError("busy", after_s=5)),
        (says("done"),),
    )
    assert [step.slice for step in stage.memory.steps["e"].values()] == [0, 1, 2]
    assert await otherwise(stage) == []


async def test_a_provider_that_does_not_answer_at_first(stage):
    await went_on(stage, (fetches(), UnavailableError("busy")), (UnavailableError("gone", lost=True),), (says("done"),))
    assert await otherwise(stage) == []


async def test_a_call_that_is_sent_again_until_it_is_in_doubt(stage):
    stage.on_call = lambda ticket: UnavailableError("gone")
    await stage.run(fetches(2))
    stage.clock.turn(60)
    tickets = stage.tickets

    class Doubting(type(tickets)):
        async def settle(self, claimed_call, result, *, now, in_doubt=False):
            await super().settle(claimed_call, result, now=now, in_doubt=claimed_call.again)

    stage.tickets = Doubting(stage.memory)
    stage.on_call = lambda ticket: ToolCallResult.from_refusal(ticket.tool, refusal.IN_DOUBT)
    await went_on(stage, (says("done"),))
    ticket = stage.memory.tickets["e"][0]
    assert (ticket.attempt, ticket.in_doubt) == (2, True)
    assert await otherwise(stage) == []


async def test_a_call_that_was_given_back_and_taken_again(stage):
    async def run_once():
        execute, first = stage._execute, []

        async def given_back(ticket, *, execution):
            if first:
                return await execute(ticket, execution=execution)
            first.append(True)

            call_request = CallRequest(execution="e", seq=0, epoch=execution.epoch, task="t", owner="o")
            claimed_call = await stage.tickets.claim(call_request, tool=ticket.tool, now=stage.clock.now())
            await stage.tickets.release(claimed_call)
            raise UnavailableError("the keys could not be read")

        stage._execute = given_back
        await went_on(stage, (fetches(),), (says("done"),))

    await run_once()
    assert stage.memory.tickets["e"][0].attempt == 2
    assert await otherwise(stage) == []


async def test_a_sent_call_of_a_cancelled_execution_that_nobody_heard_of(stage):
    stage.on_call = lambda ticket: UnavailableError("gone")
    await stage.run(fetches(2))
    cancel(stage)
    await went_on(stage)
    assert [(item.in_doubt, item.state) for item in stage.memory.tickets["e"].values()] == [
        (False, TicketState.SETTLED),  # it was a GET: whatever became of it, nothing has changed
        (False, TicketState.SETTLED),
    ]
    assert await otherwise(stage) == []


async def test_every_answer_of_the_model_lost(stage):
    lost = UnavailableError("gone", lost=True)
    await went_on(stage, (fetches(), lost), *[(lost,)] * 4, (says("never"),))
    assert "every answer was lost" in stage.execution.error
    assert await otherwise(stage) == []


@pytest.mark.parametrize("earlier", [[], [UnavailableError("gone", lost=True)]], ids=["at once", "after a lost answer"])
@pytest.mark.parametrize(
    "end", [unreached(attempts=30), RejectedError("no"), RejectedError("unreadable", lost=True)], ids=["never", "no", "lost"]
)
async def test_a_provider_that_ends_it_in_the_end(stage, earlier, end):
    await went_on(stage, (fetches(), *(earlier or [end])), (end,))
    assert str(end) in stage.execution.error
    assert await otherwise(stage) == []


async def test_a_cancel_after_a_lost_answer(stage):
    await stage.run(fetches(), UnavailableError("gone", lost=True))
    cancel(stage)
    await went_on(stage)
    assert stage.execution.status is Status.KILLED
    assert await otherwise(stage) == []


@pytest.mark.parametrize("fault", [RejectedError("the model's provider refused the request (400)"), RuntimeError("ours")])
async def test_a_provider_that_refuses_and_a_fault_of_ours(stage, fault):
    await stage.run(fetches(), fault)
    assert stage.execution.status is Status.FAILED
    assert await otherwise(stage) == []


async def test_a_flood_of_calls(stage):
    await stage.run(fetches(1), fetches(101))
    assert "more than 100 calls" in stage.execution.error
    assert await otherwise(stage) == []


async def test_an_execution_that_takes_too_long_amid_its_calls(stage):
    def slow(ticket):
        stage.clock.turn(26 * 60)
        return ToolCallResult(ticket.tool, "late", response_status=200)

    stage.on_call = slow
    deps = stage.deps
    stage.deps = lambda: replace(deps(), lease=timedelta(hours=2))
    await stage.run(fetches(2), says("never"))
    assert (stage.execution.status, stage.results[1].block_reason) == (Status.TIMEOUT, "cancelled")
    assert await otherwise(stage) == []


async def test_an_execution_that_takes_too_long_before_a_turn(stage):
    await stage.run(fetches(1), UnavailableError("busy"))
    stage.clock.turn(26 * 60)
    await stage.run(says("never"))
    assert stage.execution.status is Status.TIMEOUT
    assert await otherwise(stage) == []


@pytest.mark.parametrize("stop", ["max_tokens", "refusal"])
async def test_a_reply_that_stopped_short(stage, stop):
    await stage.run(fetches(), says("partial", ("http_get", {}), stop=stop) if stop == "max_tokens" else says("no", stop=stop))
    assert await otherwise(stage) == []


async def test_an_execution_that_never_began(stage):
    stage.task(enabled=False)
    await stage.run()
    assert (stage.execution.status, await otherwise(stage)) == (Status.FAILED, [])


async def test_an_execution_that_has_not_ended_is_not_replayed(stage):
    await stage.run(fetches(), UnavailableError("busy"))
    with pytest.raises(NotEndedError):
        await otherwise(stage)


async def test_a_loop_that_would_say_something_else_shows_as_a_diff(stage, monkeypatch):
    same = ("http_get", {"url": "https://a.test/"})
    await stage.run(says("", same, same, same), says("done"))
    prompt_text = document(stage)
    read = bundle.parse_record(prompt_text)
    monkeypatch.setattr(refusal, "REPEATED_CALL", refusal.Refusal(reason="repeated_call", message="Error: enough"))
    differences = bundle.find_differences(read, await run_replay(read.record))
    assert "turn 2: the model was asked something else" in differences[0]
    assert any(line.startswith("+") and "Error: enough" in line for line in differences)
    assert any(line.startswith("-") and "was made twice already" in line for line in differences)


async def test_a_changed_result_shows_although_the_replay_follows_it(stage):
    await stage.run(fetches(), says("done"))
    text = document(stage)
    text["calls"][0]["result"]["content"] = "answer 9"
    read = bundle.read_bundle(json.dumps({**json.loads(bundle.write_bundle(document(stage))), "record": text}))
    differences = bundle.find_differences(read, await run_replay(read.record))
    assert differences[0].startswith("the bundle was changed since it was written")
    assert any("the record itself was changed since" in line for line in differences)


async def test_a_socket_cannot_be_opened_while_the_process_is_held_offline():
    with block_network(), pytest.raises(OfflineError):
        socket.socket()
    socket.socket().close()


@pytest.mark.parametrize("reach", [lambda: socket.create_connection(("127.0.0.1", 9)), lambda: socket.getaddrinfo("a.test", 1)])
async def test_a_tool_that_reaches_for_the_network_in_a_replay_fails(stage, monkeypatch, reach):
    from ferryman.replay.doubles import RecordedTools

    execute, tried = RecordedTools._execute, []

    async def reaching(self, ticket, *, execution):
        try:
            reach()
        except OfflineError as error:
            tried.append(error)
        return await execute(self, ticket, execution=execution)

    monkeypatch.setattr(RecordedTools, "_execute", reaching)
    await stage.run(fetches(), says("done"))
    assert await otherwise(stage) == []
    assert len(tried) == 1
