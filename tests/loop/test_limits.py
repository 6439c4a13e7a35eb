"""The limits of the plan, as the loop applies them call by call."""

from __future__ import annotations

from dataclasses import replace

from ferryman.catalog.tools import TOOLS
from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.owners.plan import PLANS
from ferryman.ports.errors import UnavailableError
from tests.loop.conftest import fetches, says


def guru(stage, **limits: int) -> None:
    """Put the owner on plan Guru, with these limits instead of its own."""
    stage.memory.owners["o"] = replace(stage.memory.owners["o"], plan="guru")
    deps = stage.deps
    stage.deps = lambda: replace(deps(), plans={**PLANS, "guru": replace(PLANS["guru"], **limits)})


async def test_the_eleventh_call_of_a_minute_is_answered_by_guru_with_the_limit(stage):
    guru(stage)
    await stage.run(fetches(11), says("done"))
    assert len(stage.executed) == 10
    sentence = "Error: Rate limit reached (10 API calls per minute). The window opens in 61 s;"
    assert stage.results[10].content.startswith(sentence)
    assert (stage.results[10].blocked, stage.results[10].block_reason) == (True, "rate_limited")


async def test_a_limit_does_not_end_the_execution(stage):
    guru(stage)
    await stage.run(fetches(11), says("with what I have"))
    assert stage.execution.output == "with what I have"


async def test_the_twenty_first_call_of_an_execution_is_answered_by_guru_with_the_limit(stage):
    guru(stage)
    original = stage.on_call

    def on_call(ticket):
        stage.clock.turn(7)
        return original(ticket)

    stage.on_call = on_call
    await stage.run(fetches(10), fetches(11), says("done"))
    assert len(stage.executed) == 20
    assert stage.results[20].content == "Error: Execution limit reached (20 API calls)"


async def test_the_limit_is_checked_before_the_arguments_are_even_read(stage):
    guru(stage)
    await stage.run(says("", *[("api_call", {"url": number}) for number in range(11)]), says("done"))
    assert stage.results[10].block_reason == "rate_limited"


async def test_an_unknown_tool_does_not_count(stage):
    guru(stage)
    await stage.run(says("", *[("nothing", {})] * 10, ("http_get", {})), says("done"))
    assert len(stage.executed) == 1
    assert stage.results[0].content == "Error: unknown tool 'nothing'"


async def test_a_call_that_a_security_layer_blocked_counts(stage):
    guru(stage)
    stage.on_call = lambda ticket: ToolCallResult.from_refusal(ticket.tool, refusal.refuse_leak("KEY"))
    await stage.run(fetches(11), says("done"))
    assert [result.block_reason for result in stage.results] == ["credential_leak"] * 10 + ["rate_limited"]


async def test_a_tool_the_task_did_not_enable_is_not_executed(stage):
    await stage.run(says("", ("webhook", {})), says("done"))
    assert (stage.executed, stage.results[0].content) == ([], "Error: tool 'webhook' is not enabled for this task")


async def test_the_limits_hold_over_an_interruption(stage):

    guru(stage)
    assert not await stage.run(fetches(10), UnavailableError("busy"))
    await stage.run(fetches(1), says("done"))
    assert len(stage.executed) == 10
    assert stage.results[10].block_reason == "rate_limited"


async def test_a_refused_call_is_described_by_what_it_asked_for(stage):
    calls = [("api_call", {"url": f"https://a.test/{n}", "method": "post", "credential": "KEY"}) for n in range(21)]
    await stage.run(says("", *calls), says("done"))
    result = stage.results[20]
    assert (result.url, result.method, result.credential_used) == ("https://a.test/20", "POST", "KEY")


async def test_a_refused_call_of_a_tool_that_names_no_credential_is_described_without_one(stage):
    await stage.run(says("", ("webhook", {"url": "https://a.test/", "credential": "KEY", "method": 5})), says("done"))
    result = stage.results[0]
    assert (result.url, result.method, result.credential_used) == ("https://a.test/", None, None)


async def test_the_third_of_the_same_calls_is_refused_whatever_order_its_arguments_are_in(stage):
    same = [("http_get", {"url": "https://a.test/", "headers": {}}), ("http_get", {"headers": {}, "url": "https://a.test/"})]
    await stage.run(says("", *same), says("", same[0]), says("", same[1]), says("done"))
    assert [result.block_reason for result in stage.results] == [None, None, "repeated_call", "repeated_call"]
    assert len(stage.executed) == 2


async def test_a_call_may_be_made_again_when_ten_others_have_been_made_since(stage):
    same, others = ("http_get", {"url": "https://a.test/"}), [("http_get", {"url": f"https://a.test/{n}"}) for n in range(9)]
    await stage.run(says("", same, same, *others, same), says("done"))
    assert {result.block_reason for result in stage.results} == {None}


async def test_the_same_calls_are_counted_over_an_interruption(stage):

    same = ("http_get", {"url": "https://a.test/"})
    await stage.run(says("", same, same), UnavailableError("busy"))
    await stage.run(says("", same), says("done"))
    assert stage.results[2].block_reason == "repeated_call"


async def test_a_tool_that_does_not_count_is_not_limited_and_leaves_the_others_their_calls(stage, monkeypatch):
    tool = replace(TOOLS["http_post"], policy=replace(TOOLS["http_post"].policy, counts=False))
    monkeypatch.setitem(TOOLS, "http_post", tool)
    guru(stage)
    stage.task(tools=("http_post", "http_get"))
    uncounted = [("http_post", {"url": str(number)}) for number in range(12)]
    await stage.run(says("", *uncounted), fetches(11), says("done"))
    assert len(stage.executed) == 12 + 10
    assert [result.blocked for result in stage.results] == [False] * 22 + [True]
