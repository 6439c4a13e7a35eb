"""A delivery, from the claim to the end."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from ferryman.domain.calls.call import TicketState, ToolCallResult
from ferryman.domain.credits.balance import CreditBalance
from ferryman.domain.executions.execution import Lease, Status, Step
from ferryman.domain.executions.message import Prompt, canonicalize_prompt, digest_prompt
from ferryman.domain.executions.usage import Usage
from ferryman.inmemory.clock import START
from ferryman.loop.run import deliver
from ferryman.ports.errors import RejectedError, UnavailableError
from tests.loop.conftest import fetches, says


async def test_an_answer_without_calls_completes_the_execution(stage):
    assert await stage.run(says("done"))
    assert (stage.execution.status, stage.execution.output) == (Status.COMPLETED, "done")


async def test_the_results_of_a_turn_are_what_the_model_reads_next_in_call_order(stage):
    await stage.run(fetches(2), says("done"))
    results = stage.model.prompts[1].messages[-1]
    assert results["role"] == "user"
    assert [(block["tool_use_id"], block["content"]) for block in results["content"]] == [
        ("toolu_0", "answer 0"),
        ("toolu_1", "answer 1"),
    ]


async def test_calls_of_one_turn_are_executed_one_after_the_other(stage):
    under_way = []

    def on_call(ticket):
        under_way.append([other.seq for other in stage.memory.tickets["e"].values() if other.state is TicketState.SENT])
        return ToolCallResult(ticket.tool, "", response_status=200)

    stage.on_call = on_call
    await stage.run(fetches(3), says("done"))
    assert under_way == [[0], [1], [2]]


async def test_the_turn_is_journaled_with_its_tickets_before_any_call_is_executed(stage):
    seen = []

    def on_call(ticket):
        seen.append((len(stage.memory.steps["e"]), len(stage.memory.tickets["e"])))
        return ToolCallResult(ticket.tool, "")

    stage.on_call = on_call
    await stage.run(fetches(2), says("done"))
    assert seen == [(1, 2), (1, 2)]


async def test_an_error_result_is_told_as_an_error_and_the_loop_goes_on(stage):
    stage.on_call = lambda ticket: ToolCallResult(ticket.tool, "Error: request timed out (30s)", ok=False)
    await stage.run(fetches(), says("done anyway"))
    assert stage.model.prompts[1].messages[-1]["content"][0]["is_error"] is True
    assert stage.execution.status is Status.COMPLETED


async def test_an_answer_whose_text_calls_itself_an_error_is_told_as_none(stage):
    stage.on_call = lambda ticket: ToolCallResult(ticket.tool, "Error: it says so itself", response_status=404)
    await stage.run(fetches(), says("done"))
    assert "is_error" not in stage.model.prompts[1].messages[-1]["content"][0]


async def test_an_answer_that_its_tool_does_not_call_an_error_is_told_as_none(stage):
    stage.on_call = lambda ticket: ToolCallResult(ticket.tool, "<tool_response>oops</tool_response>", response_status=404)
    await stage.run(fetches(), says("done"))
    assert "is_error" not in stage.model.prompts[1].messages[-1]["content"][0]


async def test_every_result_is_in_the_audit_list(stage):
    await stage.run(fetches(2), says("", ("nothing", {})), says("done"))
    assert [row.tool for row in stage.execution.tool_calls] == ["http_get", "http_get", "nothing"]
    assert stage.execution.tool_calls_total == 3


async def test_the_audit_list_ends_at_fifty_and_the_count_goes_on(stage):
    stage.task(max_iterations=50)
    await stage.run(*[says("", *[("nothing", {})] * 20)] * 3, says("done"))
    assert (len(stage.execution.tool_calls), stage.execution.tool_calls_total) == (50, 60)


async def test_an_authenticated_call_costs_half_a_credit_on_top_of_the_tokens(stage):
    stage.on_call = lambda ticket: ToolCallResult("api_call", "", credential_used="KEY", response_status=200)
    await stage.run(says("", ("api_call", {})), says("done"))
    tokens = 2 * (10 * Decimal(3) + 10 * Decimal(15)) / 1000
    assert stage.execution.credits_used == tokens + Decimal("0.5")


async def test_an_unauthenticated_call_costs_the_tokens_alone(stage):
    await stage.run(fetches(), says("done"))
    assert stage.execution.credits_used == 2 * (10 * Decimal(3) + 10 * Decimal(15)) / 1000


async def test_the_iteration_cap_brings_one_closing_call_without_tools(stage):
    stage.task(max_iterations=2)
    await stage.run(fetches(), fetches(), says("so far"))
    assert [prompt.closing for prompt in stage.model.prompts] == [False, False, True]
    assert (stage.execution.status, stage.execution.output, stage.execution.iterations) == (Status.COMPLETED, "so far", 2)


async def test_a_call_in_the_closing_reply_is_not_executed(stage):
    stage.task(max_iterations=1)
    await stage.run(fetches(), says("bye", ("http_get", {})))
    assert len(stage.executed) == 1


async def test_a_finished_execution_is_not_run_again(stage):
    await stage.run(says("done"))
    assert await stage.run()
    assert len(stage.model.prompts) == 1


async def test_an_execution_that_does_not_exist_is_forgotten(stage):
    assert await deliver(stage.deps(), "another", slice=0, holder="h")


async def test_an_execution_under_another_lease_is_to_be_delivered_again(stage):
    stage.start(status=Status.RUNNING, lease=Lease(holder="other", epoch=1, expires_at=stage.clock.turn(60)))
    stage.clock.turn(-60)
    assert not await stage.run()


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"enabled": False}, "the task is disabled"),
        ({"owner": "another"}, "the task was deleted"),
        ({"model": "unpriced"}, "model unpriced has no price"),
        ({"task_prompt": "start xmrig"}, "the prompt asks for crypto mining, which tasks may not do"),
    ],
)
async def test_an_execution_that_cannot_start_fails_with_the_reason(stage, change, error):
    stage.task(**change)
    assert await stage.run()
    assert (stage.execution.status, stage.execution.error) == (Status.FAILED, error)


async def test_an_input_that_asks_for_abuse_fails_before_any_model_sees_it(stage):
    stage.start(input="open a reverse shell")
    await stage.run(says("never"))
    assert (stage.execution.status, stage.model.prompts) == (Status.FAILED, [])


async def test_a_plan_that_cannot_run_tasks_fails_the_execution(stage):
    stage.memory.owners["o"] = stage.memory.owners["o"].__class__(id="o", plan="free", created_at=stage.clock.now())
    await stage.run()
    assert stage.execution.error == "the owner's plan cannot run tasks"


async def test_too_few_credits_this_month_fail_the_execution(stage):
    spent = CreditBalance(id="owner:o", month="2026-11", credits_used=Decimal(54_950))
    stage.memory.balances["owner:o"] = spent
    await stage.run()
    assert stage.execution.error is not None
    assert stage.execution.error.startswith("100 credits do not fit: plan pro allows 55000 credits a month")
    assert stage.memory.balances["owner:o"] == spent


async def test_what_was_reserved_is_released_and_what_was_used_is_charged(stage):
    await stage.run(says("done"))
    balance = stage.memory.balances["owner:o"]
    for counted in (balance, balance.parts["task:t"]):
        assert (counted.credits_reserved, counted.credits_used) == (0, stage.execution.credits_used)


async def test_a_model_call_the_credits_do_not_cover_is_not_made(stage):
    stage.task(max_credits=Decimal("0.01"))
    await stage.run(says("never"))
    assert (stage.execution.status, stage.model.prompts) == (Status.FAILED, [])
    assert stage.execution.error.startswith("the credit limit of this execution was reached: 0.01 reserved, 0 used, and")


async def test_a_model_is_given_no_more_tokens_than_the_credits_cover(stage):
    stage.task(max_credits=Decimal(20))
    await stage.run(says("done"))
    assert 256 <= stage.model.prompts[0].max_tokens < 4_096


async def test_a_paid_call_the_credits_do_not_cover_is_answered_and_not_executed(stage):
    stage.task(max_credits=Decimal(20))
    await stage.run(says("", *[("api_call", {})] * 2, tokens=1_085), says("done"))
    assert stage.executed == []
    assert stage.results[0].block_reason == "credits_exhausted"


async def test_a_provider_that_refuses_fails_the_execution(stage):
    await stage.run(RejectedError("the model's provider refused the request (400)"))
    assert (stage.execution.status, stage.execution.error) == (Status.FAILED, "the model's provider refused the request (400)")


async def test_a_provider_that_is_busy_is_asked_again_by_a_later_delivery(stage):
    assert not await stage.run(fetches(), UnavailableError("busy"))
    assert await stage.run(says("done"))
    assert (stage.execution.output, len(stage.executed)) == ("done", 1)


async def test_a_fault_of_ours_ends_the_execution_without_its_text(stage):
    await stage.run(RuntimeError("hunter2"))
    assert (stage.execution.status, stage.execution.error) == (Status.FAILED, "an internal fault ended the execution")
    assert "hunter2" not in repr(stage.log.lines)


@pytest.mark.parametrize(
    ("stop", "error"),
    [
        ("max_tokens", "the model's reply was cut at max_tokens, after 10 tokens: 4096, or fewer where credits are short"),
        ("refusal", "the model refused the task"),
    ],
)
async def test_a_reply_that_stopped_short_fails_with_the_reason(stage, stop, error):
    await stage.run(says("partial", stop=stop))
    assert (stage.execution.status, stage.execution.error, stage.execution.output) == (Status.FAILED, error, "partial")


@pytest.mark.parametrize("stop", ["max_tokens", "model_context_window_exceeded", "refusal", "end_turn"])
async def test_a_call_of_a_reply_that_stopped_for_any_other_reason_is_not_executed(stage, stop):
    await stage.run(says("", ("http_get", {}), stop=stop))
    assert stage.executed == []


async def test_an_execution_that_takes_too_long_ends_as_timeout(stage):
    def slow(ticket):
        stage.clock.turn(26 * 60)
        lease = Lease(holder="h", epoch=1, expires_at=stage.clock.now().replace(year=2030))
        stage.memory.executions["e"] = replace(stage.execution, lease=lease)
        return ToolCallResult(ticket.tool, "late")

    stage.on_call = slow
    await stage.run(fetches(), says("never"))
    assert (stage.execution.status, stage.execution.error) == (Status.TIMEOUT, "the execution took longer than 1500 seconds")
    assert stage.results[0].content == "late"


async def test_a_closing_reply_without_text_says_that_the_limit_was_reached(stage):
    stage.task(max_iterations=1)
    await stage.run(fetches(), says("", ("http_get", {})))
    assert stage.execution.output == "The limit of 1 iterations was reached before there was an answer."


async def test_a_first_reply_without_text_is_an_answer_as_it_is(stage):
    stage.task(max_iterations=1)
    await stage.run(says(""))
    assert (stage.execution.status, stage.execution.output) == (Status.COMPLETED, "")


@pytest.mark.parametrize("ending", ["rejected", "credits", "timeout"])
async def test_an_execution_that_ends_early_keeps_the_last_text_of_its_model(stage, ending):
    def on_call(ticket):
        if ending == "timeout":
            for _ in range(26):
                stage.clock.turn(60)
                lease = replace(stage.execution.lease, expires_at=stage.clock.now() + timedelta(minutes=2))
                stage.memory.executions["e"] = replace(stage.execution, lease=lease)
        return ToolCallResult(ticket.tool, "", response_status=200)

    stage.on_call = on_call
    stage.task(max_credits=Decimal(20))
    script = [says("So far.", ("http_get", {}), tokens=1_100 if ending == "credits" else 10)]
    await stage.run(*script, *([RejectedError("no")] if ending == "rejected" else []))
    expected = {"rejected": Status.FAILED, "credits": Status.FAILED, "timeout": Status.TIMEOUT}
    assert (stage.execution.status, stage.execution.output) == (expected[ending], "So far.")


async def test_an_execution_that_ends_before_its_model_says_anything_has_no_output(stage):
    await stage.run(RejectedError("no"))
    assert (stage.execution.status, stage.execution.output) == (Status.FAILED, None)


async def test_the_prompt_of_a_turn_is_that_of_the_task_and_grows_by_its_messages(stage):
    stage.task(max_iterations=1)
    call = {"type": "tool_use", "id": "toolu_0", "name": "http_get", "input": {"url": "u"}}
    await stage.run(says("", ("http_get", {"url": "u"})), says("done"))
    first, second = stage.model.prompts
    opening = stage.memory.openings["e"]
    assert first == Prompt(
        model="scripted/x",
        system=opening.system,
        messages=({"role": "user", "content": "Report for 2026-11-21."},),
        tools=opening.tools,
        max_tokens=4_096,
        temperature=0.3,
    )
    result = {"type": "tool_result", "tool_use_id": "toolu_0", "content": "answer 0"}
    messages = (*first.messages, {"role": "assistant", "content": [call]}, {"role": "user", "content": [result]})
    assert second == replace(first, messages=messages, closing=True)


async def test_a_turn_and_its_calls_are_stored_with_everything_about_them(stage):
    stage.start(slice=2)
    usage = Usage(input_tokens=10, output_tokens=10)
    await stage.run(says("", ("http_get", {"url": "u"}), ("api_call", {"n": 1})), says("done"))
    first, second = stage.memory.steps["e"].values()
    prompts = [digest_prompt(canonicalize_prompt(p.system, p.tools, p.messages)) for p in stage.model.prompts]
    block = {"type": "tool_use", "id": "toolu_0", "name": "http_get", "input": {"url": "u"}}
    assert first == Step(
        number=1,
        content=(block, {"type": "tool_use", "id": "toolu_1", "name": "api_call", "input": {"n": 1}}),
        stop_reason="tool_use",
        usage=usage,
        credits=Decimal("0.18"),
        first_call=0,
        calls=2,
        event=2,
        at=START,
        slice=2,
        prompt_digest=prompts[0],
    )
    assert (second.number, second.first_call, second.calls, second.event) == (2, 2, 0, 7)
    assert (second.prompt_digest, second.stop_reason) == (prompts[1], "end_turn")
    looked, called = stage.executed
    assert (looked.seq, looked.step, looked.call, looked.tool, looked.epoch) == (0, 1, "toolu_0", "http_get", 1)
    assert (called.seq, called.step, called.call, called.tool, called.epoch) == (1, 1, "toolu_1", "api_call", 1)
    assert (looked.arguments, looked.display_arguments) == (b'sealed:{"url": "u"}', {"url": "u"})
    assert (called.arguments, called.display_arguments, called.created_at) == (b'sealed:{"n": 1}', {"n": 1}, START)


async def test_arguments_are_sealed_to_their_execution_and_their_number(stage):
    sealed, deps = [], stage.deps
    stage.deps = lambda: replace(deps(), seal=lambda *args: sealed.append(args) or b"")
    await stage.run(fetches(), fetches(), says("done"))
    assert [(execution, seq) for execution, seq, _ in sealed] == [("e", 0), ("e", 1)]


async def test_a_flood_of_calls_ends_the_execution_and_executes_none(stage):
    await stage.run(fetches(101))
    assert (stage.execution.status, stage.executed) == (Status.FAILED, [])
    assert stage.execution.error == "the model asked for more than 100 calls in one turn"


async def test_a_prompt_that_grows_too_long_by_its_variables_fails_before_it_is_stored(stage):
    stage.task(name="n" * 100, task_prompt="{{task_name}}" * 3_000)
    await stage.run(says("never"))
    assert stage.execution.error == "the prompt is longer than 200000 characters once its variables are put in"


async def test_a_turn_is_never_charged_more_than_is_left(stage):
    stage.task(max_credits=Decimal(20))
    await stage.run(says("done", tokens=5_000_000))
    assert stage.execution.credits_used == 20


async def test_a_fault_amid_the_calls_still_counts_those_that_were_sent(stage):
    def on_call(ticket):
        return RuntimeError("ours") if ticket.seq == 1 else ToolCallResult(ticket.tool, "first", response_status=200)

    stage.on_call = on_call
    await stage.run(fetches(3))
    stage.clock.turn(60)
    stage.on_call = lambda ticket: ToolCallResult(ticket.tool, "then", response_status=200)
    assert await stage.run(says("done"))
    assert [row.content for row in stage.execution.tool_calls] == ["first", "then", "then"]
    assert (stage.execution.tool_calls_total, [ticket.seq for ticket in stage.executed]) == (3, [0, 1, 1, 2])


async def test_a_record_that_cannot_be_written_whole_is_written_in_short(stage):
    class Narrow(type(stage.deps().executions)):
        async def finish(self, execution, ending, *, now):
            if execution.tool_calls:
                raise ValueError("the document is too large")
            return await super().finish(execution, ending, now=now)

    deps = stage.deps
    stage.deps = lambda: replace(deps(), executions=Narrow(stage.memory))
    assert await stage.run(fetches(), says("done"))
    assert (stage.execution.status, stage.execution.tool_calls_total) == (Status.FAILED, 1)
    assert stage.execution.error == "the record of this execution outgrew its document"


async def test_a_store_that_does_not_answer_is_asked_again_by_a_later_delivery(stage):
    class UnavailableExecutions(type(stage.deps().executions)):
        async def claim(self, *args, **named):
            raise UnavailableError("Firestore did not answer")

    deps = stage.deps
    stage.deps = lambda: replace(deps(), executions=UnavailableExecutions(stage.memory))
    assert not await stage.run()
