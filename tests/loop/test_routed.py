"""A call of http_request: in the journal it is a call of the tool that executes it, and that tool's in everything."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.credits import ledger
from ferryman.domain.records.event import build_tool_call
from tests.loop.conftest import KEY, Stage, at_rest, says
from tests.loop.test_receipts import document as read_receipts
from tests.loop.test_receipts import fits
from tests.loop.test_scan import keyed  # noqa: F401 - a fixture

URL = "https://api.coingecko.com/a"
ALL = ("http_request", "api_call", "http_get", "http_post")


def request(**arguments: Any) -> tuple[str, dict[str, Any]]:
    return "http_request", {"url": URL, **arguments}


@pytest.fixture
def stage(stage: Stage) -> Stage:
    stage.task(tools=ALL)
    return stage


@pytest.mark.parametrize(
    ("arguments", "tool", "converted"),
    [
        ({}, "http_get", {"url": URL}),
        ({"query": {"q": 1}}, "http_get", {"url": URL, "query_params": {"q": 1}}),
        ({"method": "post", "body": {}}, "http_post", {"url": URL, "body": {}}),
        ({"credential": "K"}, "api_call", {"url": URL, "credential": "K", "method": "GET"}),
        ({"method": "PUT"}, "api_call", {"url": URL, "method": "PUT"}),
    ],
)
async def test_the_ticket_is_the_tool_s_with_both_names(
    stage: Stage, arguments: dict[str, Any], tool: str, converted: Any
) -> None:
    await stage.run(says("", request(**arguments)), says("done"))
    (ticket,) = stage.executed
    assert (ticket.tool, ticket.called_as, ticket.display_arguments) == (tool, "http_request", converted)
    assert json.loads(ticket.arguments.removeprefix(b"sealed:")) == converted


async def test_a_call_of_another_tool_has_one_name(stage: Stage) -> None:
    await stage.run(says("", ("http_get", {"url": URL})), says("done"))
    assert stage.executed[0].called_as is None


async def test_the_tool_gets_what_the_model_wrote_and_the_record_what_was_scanned(keyed: Stage) -> None:  # noqa: F811 - the fixture
    keyed.task(tools=ALL)
    await keyed.run(says("", request(credential="KEY", query={"q": KEY})), says("done"))
    (ticket,) = keyed.executed
    assert json.loads(ticket.arguments.removeprefix(b"sealed:"))["query_params"] == {"q": KEY}
    assert ticket.display_arguments["query_params"] == {"q": "[redacted:KEY]"}
    assert KEY not in str(at_rest(keyed))


async def test_the_model_reads_the_answer_to_its_own_call(stage: Stage) -> None:
    await stage.run(says("", request()), says("done"))
    question, answer = stage.model.prompts[-1].messages[1:]
    assert question["content"][0]["name"] == "http_request"
    assert [block["tool_use_id"] for block in answer["content"]] == [question["content"][0]["id"]]


async def test_without_the_right_of_the_tool_behind_it_nothing_is_executed(stage: Stage) -> None:
    stage.task(tools=("http_request", "http_get"))
    await stage.run(says("", request(credential="K"), request(method="POST", body={}), request()), says("done"))
    assert [ticket.tool for ticket in stage.executed] == ["http_get"]
    assert [result.content for result in stage.results][:2] == [
        "Error: tool 'api_call' is not enabled for this task",
        "Error: tool 'http_post' is not enabled for this task",
    ]


async def test_without_its_own_right_nothing_is_executed(stage: Stage) -> None:
    stage.task(tools=ALL[1:])
    await stage.run(says("", request()), says("done"))
    (ticket,) = stage.memory.tickets["e"].values()
    assert (stage.executed, ticket.tool, ticket.called_as) == ([], "http_request", None)
    assert stage.results[0].content == "Error: tool 'http_request' is not enabled for this task"


async def test_a_call_that_leads_to_no_tool_is_refused_in_its_own_name_and_costs_nothing(stage: Stage) -> None:
    await stage.run(says("", request(method="PATCH", credential="K")), says("done"))
    (ticket,) = stage.memory.tickets["e"].values()
    assert (stage.executed, ticket.tool, ticket.called_as) == ([], "http_request", None)
    assert (stage.results[0].blocked, stage.results[0].block_reason) == (True, "method_not_allowed")
    assert "api_call_fee" not in ledger.sum_accounts(stage.memory.entries.values())
    assert stage.execution.rate.calls == 0


async def test_an_authenticated_call_is_charged_once(stage: Stage) -> None:
    stage.on_call = lambda ticket: ToolCallResult(ticket.tool, "", credential_used="K", response_status=200)
    await stage.run(says("", request(credential="K"), request()), says("done"))
    fees = ledger.sum_accounts(stage.memory.entries.values())["api_call_fee"]
    assert fees == Decimal("0.5") * sum(result.tool == "api_call" for result in stage.results)


async def test_each_call_counts_once_against_the_plan(stage: Stage) -> None:
    await stage.run(says("", request(), request(method="POST", body={})), says("done"))
    assert stage.execution.rate.calls == 2


async def test_the_same_call_under_two_names_is_a_repetition(stage: Stage) -> None:
    await stage.run(says("", request(), ("http_get", {"url": URL}), request(method="get")), says("done"))
    assert [result.block_reason for result in stage.results] == [None, None, "repeated_call"]


async def test_the_receipts_name_the_tool_and_cover_both_names(stage: Stage) -> None:
    await stage.run(says("", request()), says("done"))
    planned = [entry for entry in (await read_receipts(stage))["entries"] if entry["kind"] == "planned"]
    assert [entry["tool"] for entry in planned] == ["http_get"]
    assert await fits(stage)


async def test_a_receipt_finds_the_other_name_changed(stage: Stage) -> None:
    await stage.run(says("", request()), says("done"))
    tickets = stage.memory.tickets["e"]
    tickets[0] = replace(tickets[0], called_as=None)
    assert not await fits(stage)


async def test_the_event_of_the_call_has_both_names(stage: Stage) -> None:
    await stage.run(says("", request(), ("http_get", {"url": URL})), says("done"))
    bodies = [build_tool_call(1, ticket).body for _, ticket in sorted(stage.memory.tickets["e"].items())]
    assert [(body["name"], body.get("called_as")) for body in bodies] == [("http_get", "http_request"), ("http_get", None)]
