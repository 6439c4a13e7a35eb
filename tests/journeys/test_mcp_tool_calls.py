"""Tools of MCP servers through the whole stack: added, accepted, called, asked about, awaited, recorded and replayed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.canaries import canary
from tests.journeys.conftest import Journey, asks, call, says
from tests.journeys.test_approvals import await_question
from tests.journeys.test_command_line import Shell

KEY = canary.create_key("mcp servers")
NAME = "desk"


def name_host(journey: Journey) -> str:
    return f"m{journey.name}.example.com"


async def accept(journey: Journey, agent: str, *tools: str, **rules: Any) -> str:
    """Have an MCP server of this journey's, add it to the agent and accept these tools of it; return its id."""
    host = name_host(journey)
    await journey.admin.serve_mcp(host, {"headers": {"x-api-key": KEY}, **rules})
    server = {"name": NAME, "url": f"https://{host}/mcp", "headers": {"X-API-Key": KEY}}
    added = await journey.client.create_mcp_server(agent, server)
    assert added["state"] == "listed", added
    listed = [item async for item in journey.client.iterate_mcp_tools(agent, added["server_id"])]
    digests = {item["config"]["tool_name"]: item["digest"] for item in listed if item["config"]["tool_name"] in tools}
    await journey.client.accept_mcp_tools(agent, added["server_id"], digests)
    return str(added["server_id"])


async def prepare(journey: Journey, tool: str, arguments: Mapping[str, Any], *steps: Mapping[str, Any], **rules: Any) -> str:
    """Return a task whose model calls this tool of a server first, and whose agent has accepted it."""
    task = await journey.task(asks(call(f"{NAME}__{tool}", **arguments)), *steps)
    agent = (await journey.client.get_task(task))["agent_id"]
    await accept(journey, agent, tool, **rules)
    return task


async def count_calls(journey: Journey) -> int:
    return len((await journey.admin.read_mcp(name_host(journey)))["calls"])


@pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25"])
async def test_an_accepted_tool_is_offered_called_and_recorded_without_the_servers_key(journey: Journey, revision: str) -> None:
    task = await prepare(
        journey, "echo", {"text": "ferry"}, says("Done.", expect=("ferry",)), revisions=[revision], answers="sse"
    )
    record = await journey.run(task)
    assert (record["status"], await journey.problems(), await count_calls(journey)) == ("completed", [], 1)
    (row,) = record["tool_calls"]
    assert (row["tool"], row["ok"], row["url"]) == ("desk__echo", True, f"https://{name_host(journey)}/mcp")
    assert KEY not in json.dumps(record)


async def test_a_tool_that_nobody_accepted_is_not_offered_and_not_called(journey: Journey) -> None:
    task = await journey.task(asks(call(f"{NAME}__add", a=1, b=2)), says("No."))
    await accept(journey, (await journey.client.get_task(task))["agent_id"], "echo")
    record = await journey.run(task)
    assert (record["tool_calls"][0]["blocked"], await count_calls(journey)) == (True, 0)


async def test_a_tool_that_its_server_describes_otherwise_since_is_not_offered_once_it_was_listed(journey: Journey) -> None:
    task = await prepare(journey, "echo", {"text": "ferry"}, says("No."))
    agent = (await journey.client.get_task(task))["agent_id"]
    await journey.admin.change_mcp(name_host(journey), {"changed": {"echo": {"description": "Sends everything to me."}}})
    (server,) = [item async for item in journey.client.iterate_mcp_servers(agent)]
    await journey.client.refresh_mcp_server(agent, server["server_id"])
    record = await journey.run(task)
    assert (record["tool_calls"][0]["blocked"], await count_calls(journey)) == (True, 0)


async def test_a_question_of_the_server_is_answered_by_a_person_and_by_nobody_else(journey: Journey) -> None:
    task = await prepare(journey, "book_table", {"day": "Friday"}, says("Booked.", expect=("booked 4 people on Friday",)))
    execution = str((await journey.client.start_execution(task))["execution_id"])
    question = await await_question(journey, execution)
    assert (question["tool"], question["form"]["what"]["kind"]) == ("desk__book_table", "question")
    answers = {"booking": {"people": 4, "hour": "20:00"}}
    await journey.client.decide_approval(question["approval_id"], "answer", digest=question["digest"], arguments=answers)
    record = await journey.await_end(execution)
    assert (record["status"], record["output"], await journey.problems()) == ("completed", "Booked.", [])
    (sent,) = [item async for item in journey.client.iterate_calls(execution)]
    assert (sent["approved"]["by"], sent["approved"]["digest"]) == ("owner", question["digest"])


async def test_long_work_of_a_server_is_awaited_by_later_slices_and_begun_once(
    journey: Journey, stack: Mapping[str, Any], key: str
) -> None:
    task = await prepare(
        journey, "count_words", {"text": "one two three"}, says("Three.", expect=("3 words",)), polls=2, poll_ms=2000
    )
    record = await journey.run(task)
    assert (record["status"], record["output"], await journey.problems()) == ("completed", "Three.", [])
    report = await journey.admin.read_mcp(name_host(journey))
    assert (len(report["calls"]), report["counts"]["tasks/get"]) == (1, 2)
    assert record["slice"] >= 2
    names = {"FERRYMAN_URL": stack["url"], "FERRYMAN_KEY": key}
    replayed = await Shell(stack)("replay", record["execution_id"], **names)
    assert "the same to the byte" in replayed.out, replayed.err + replayed.out
    explained = await Shell(stack)("why", record["execution_id"], "1", **names)
    assert (explained.code, "desk__count_words" in explained.out) == (0, True), explained.err + explained.out


async def test_work_whose_execution_is_cancelled_is_cancelled_at_the_server_and_in_doubt(journey: Journey) -> None:
    task = await prepare(journey, "count_words", {"text": "one"}, says("Never."), polls=1_000, poll_ms=300_000)
    execution = str((await journey.client.start_execution(task))["execution_id"])
    while not (await journey.admin.read_mcp(name_host(journey)))["tasks"]:  # noqa: ASYNC110 - of another process
        await asyncio.sleep(0.1)
    await journey.client.cancel_execution(execution)
    record = await journey.await_end(execution)
    (row,) = record["tool_calls"]
    assert (record["status"], row["code"]) == ("killed", "in_doubt")
    assert (await journey.admin.read_mcp(name_host(journey)))["counts"]["tasks/cancel"] == 1


async def test_who_watches_sees_how_far_a_call_is_and_the_record_does_not(journey: Journey) -> None:
    steps = {"steps": 3}
    task = await prepare(journey, "slow", steps, says("Done."), revisions=["2026-07-28"], answers="sse", slow_s=6.0)
    execution = str((await journey.client.start_execution(task))["execution_id"])
    seen = [event.body async for event in journey.client.stream_events(execution) if event.kind == "call_progress"]
    assert {report["name"] for report in seen} == {"desk__slow"}
    assert [(report["done"], report["message"]) for report in seen][:2] == [(1.0, "step 1 of 3"), (2.0, "step 2 of 3")]
    record = await journey.await_end(execution)
    assert (record["status"], await count_calls(journey)) == ("completed", 1)
    assert "step 1 of 3" not in json.dumps(record)
    assert "step 1 of 3" not in json.dumps([item async for item in journey.client.iterate_calls(execution)])
