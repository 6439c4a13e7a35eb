"""A replay comes to the same, byte for byte, where calls asked for others."""

from __future__ import annotations

from typing import Any

import pytest

from ferryman.domain.calls.call import Ticket, ToolCallResult
from ferryman.domain.executions.execution import Status
from ferryman.loop.sub_calls import CALLS_MAX
from ferryman.ports.errors import UnavailableError
from tests.loop.conftest import says
from tests.loop.test_cancel import cancel
from tests.loop.test_limits import guru
from tests.loop.test_sub_calls import GET, AskingStage, asks
from tests.replay.conftest import otherwise
from tests.replay.test_replay import slowly, went_on

MORE = [("http_get", {"n": number}) for number in range(1, 14)]


@pytest.fixture
def stage() -> AskingStage:
    return AskingStage()


async def test_batches_one_after_the_other(stage: AskingStage) -> None:
    stage.asks = [[GET, MORE[0]], [MORE[1]]]
    slowly(stage)
    await stage.run(asks(MORE[2]), says("", MORE[3]), says("done"))
    assert await otherwise(stage) == []


async def test_batches_that_follow_each_other_at_once(stage: AskingStage) -> None:
    stage.asks = [[GET], [MORE[0]]]
    await stage.run(asks(MORE[2]), says("done"))
    assert await otherwise(stage) == []


async def test_calls_that_ask_for_calls_that_ask(stage: AskingStage) -> None:
    stage.by_parent = {0: [[("calculator", {"expression": "2"}), MORE[0]], [MORE[1]]], 1: [[GET], [MORE[2]]]}
    await stage.run(asks(), says("done"))
    assert await otherwise(stage) == []


async def test_refused_sub_calls_and_a_wait_for_the_minute(stage: AskingStage) -> None:
    guru(stage)
    stage.asks = [[*MORE, GET, GET, GET, ("http_post", {})]]
    await went_on(stage, (asks(), says("done")))
    assert await otherwise(stage) == []


async def test_a_call_that_asked_for_too_many(stage: AskingStage) -> None:
    stage.asks = [[("http_get", {"n": number}) for number in range(CALLS_MAX)]]
    await stage.run(asks(GET), says("done"))
    assert await otherwise(stage) == []


async def test_a_lost_answer_of_a_sub_call(stage: AskingStage) -> None:
    stage.asks = [[GET, MORE[0]], [MORE[1]]]
    lost: list[Exception] = [UnavailableError("gone")]
    answer = stage.on_call
    stage.on_call = lambda ticket: lost.pop() if ticket.seq == 3 and lost else answer(ticket)
    await went_on(stage, (asks(MORE[2]), says("done")), (says("done"),))
    assert await otherwise(stage) == []


async def test_a_cancel_between_sub_calls(stage: AskingStage) -> None:
    stage.asks = [[GET, MORE[0]]]

    def on_call(ticket: Ticket) -> ToolCallResult:
        stage.clock.turn(2)
        cancel(stage)
        return ToolCallResult(ticket.tool, "ok", response_status=200)

    stage.on_call = on_call
    await stage.run(asks(MORE[1]), says("never"))
    assert stage.execution.status is Status.KILLED
    assert await otherwise(stage) == []


@pytest.mark.parametrize("late", [2, 3, 4, 1])
async def test_a_time_limit_that_is_over_after_any_of_the_calls(stage: AskingStage, late: int) -> None:
    stage.asks = [[GET, MORE[0]], [MORE[1]]]

    def on_call(ticket: Ticket) -> Any:
        stage.clock.turn(26 * 60 if ticket.seq == late else 1)
        return ToolCallResult(ticket.tool, "ok", response_status=200)

    stage.on_call = on_call
    await went_on(stage, (asks(MORE[2], MORE[3]), says("never")))
    assert stage.execution.status is Status.TIMEOUT
    assert await otherwise(stage) == []


async def test_sub_calls_of_a_tool_that_leaves_them_to_others(stage: AskingStage) -> None:
    stage.task(tools=("calculator", "http_request", "http_get"))
    url = GET[1]
    stage.asks = [[("http_request", {**url, "query": {"q": 1}}), ("http_request", {**url, "method": "PATCH"})], [GET]]
    await stage.run(asks(), says("done"))
    tickets = [ticket for _, ticket in sorted(stage.memory.tickets["e"].items())]
    assert [(ticket.tool, ticket.called_as) for ticket in tickets[1:]] == [
        *(("http_get", "http_request"), ("http_request", None), ("http_get", None))
    ]
    assert tickets[1].display_arguments == {**url, "query_params": {"q": 1}}
    assert await otherwise(stage) == []
