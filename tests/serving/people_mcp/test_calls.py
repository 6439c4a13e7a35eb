"""Calls of an agent's tools through /mcp: each is an execution like any other, with its result, its limits and its record."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from jsonschema import Draft202012Validator

from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.calls.part import Part, PartKind
from ferryman.domain.executions.execution import Status
from ferryman.domain.mcp_codes import ErrorCode
from ferryman.domain.owners.plan import PLANS
from ferryman.domain.workspaces.member import Right, Role
from ferryman.serving.api.mcp.outcome import OUTPUT_SCHEMA
from ferryman.serving.keys import digest_key
from tests.serving.people_mcp.stage import McpClient, McpStage

URL = "https://api.coingecko.com/0"


async def test_a_call_returns_the_result_of_its_execution(people: McpStage) -> None:
    answer = await people.client().call_tool("http_get", {"url": URL})
    assert answer.result["content"] == [{"type": "text", "text": "42"}]
    about = answer.result["structuredContent"]
    assert (about["ok"], about["status"], answer.result["isError"]) == (True, "completed", False)
    execution = people.memory.executions[about["execution_id"]]
    assert (execution.called_tool, execution.is_from_client, execution.task) == ("http_get", True, people.chat_task.id)


async def test_what_is_said_beside_the_text_fits_the_schema_of_the_tool(people: McpStage) -> None:
    client = people.client()
    for name in ("http_get", "http_post"):
        about = (await client.call_tool(name, {"url": URL})).result["structuredContent"]
        Draft202012Validator(OUTPUT_SCHEMA).validate(about)


async def test_a_result_of_strangers_is_labelled_as_such(people: McpStage) -> None:
    about = (await people.client().call_tool("http_get", {"url": URL})).result["structuredContent"]
    assert about["integrity"] == "untrusted"


async def test_the_file_that_the_rest_of_a_result_is_in_is_linked(people: McpStage) -> None:
    file = Part(kind=PartKind.FILE, start=2, end=9, media_type="text/plain", size_bytes=70_000, file="results/a b.txt")
    parts = (Part(kind=PartKind.TEXT, start=0, end=2), file)
    people.orchestrator.on_call = lambda ticket: ToolCallResult(ticket.tool, "42 and on", parts=parts)
    _, link = (await people.client().call_tool("http_get", {"url": URL})).result["content"]
    assert link == {
        "type": "resource_link",
        "uri": "ferryman://files/results/a%20b.txt",
        "name": "results/a b.txt",
        "mimeType": "text/plain",
        "size": 70_000,
    }


async def test_a_failed_call_is_an_error_with_its_code_and_what_to_do(people: McpStage) -> None:
    people.answer("Error: HTTP 404", ok=False, code="not_found", suggestion="look elsewhere")
    result = (await people.client().call_tool("http_get", {"url": URL})).result
    about = result["structuredContent"]
    assert (result["isError"], about["ok"], about["code"], about["suggestion"]) == (True, False, "not_found", "look elsewhere")


async def test_a_tool_that_is_not_enabled_is_unknown_and_starts_nothing(people: McpStage) -> None:
    before = set(people.memory.executions)
    answer = await people.client().call_tool("web_fetch", {"url": URL})
    assert (answer.status, answer.code) == (400, ErrorCode.INVALID_PARAMS)
    assert set(people.memory.executions) == before


async def test_a_member_without_the_right_to_run_calls_nothing(people: McpStage) -> None:
    viewer = people.member(Role.VIEWER)
    answer = await people.client(viewer).call_tool("http_get", {"url": URL})
    assert (answer.status, answer.code) == (403, 403)
    assert people.orchestrator.executed == []


async def test_a_key_without_the_scope_run_calls_nothing(people: McpStage) -> None:
    answer = await people.client(people.member(scopes=(Right.READ,))).call_tool("http_get", {"url": URL})
    assert (answer.status, people.orchestrator.executed) == (403, [])


async def test_a_key_that_is_narrowed_to_tools_calls_these_alone(people: McpStage) -> None:
    narrowed = people.member(scopes=(Right.READ, Right.RUN))
    digest = digest_key(narrowed["Authorization"].removeprefix("Bearer "))
    people.memory.keys[digest] = replace(people.memory.keys[digest], tools=("http_get",))
    client = people.client(narrowed)
    listed = [tool["name"] for tool in (await client.call("tools/list")).result["tools"]]
    assert listed == ["http_get", "get_execution", "list_tasks"]
    for name in ("http_post", "run_task", "ask_agent"):
        assert (await client.call_tool(name, {"url": URL})).code == ErrorCode.INVALID_PARAMS
    assert (await client.call_tool("http_get", {"url": URL})).result["isError"] is False


async def test_no_key_is_401_with_its_challenge(people: McpStage) -> None:
    answer = await people.client({}).call_tool("http_get", {"url": URL})
    assert answer.status == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")


async def test_a_halted_owner_starts_nothing(people: McpStage) -> None:
    people.memory.halts.add("ann")
    answer = await people.client().call_tool("http_get", {"url": URL})
    assert (answer.status, people.orchestrator.executed) == (409, [])


async def test_too_many_calls_at_once_are_429(people: McpStage) -> None:
    client = people.client()
    answers = [await client.call_tool("http_get", {"url": URL}) for _ in range(PLANS["pro"].executions_running + 1)]
    assert [answer.status for answer in answers].count(429) == 1


async def test_who_leaves_before_a_call_was_sent_has_it_withdrawn(people: McpStage) -> None:
    people.queue.is_open = False
    posting = people.client().begin("tools/call", {"name": "http_get", "arguments": {"url": URL}})
    await people.queue.has_news.wait()
    await posting.leave()
    (execution,) = [item for item in people.memory.executions.values() if item.called_tool]
    assert execution.status is Status.KILLED
    people.queue.deliver()
    await people.settle()
    assert people.orchestrator.executed == []


async def test_who_leaves_while_a_call_is_being_started_has_it_withdrawn(people: McpStage) -> None:
    people.queue.is_open = False
    people.queue.gate.clear()
    posting = people.client().begin("tools/call", {"name": "http_get", "arguments": {"url": URL}})
    await people.queue.has_news.wait()
    leaving = asyncio.create_task(posting.leave())
    for _ in range(50):  # the server notices
        await asyncio.sleep(0)
    people.queue.gate.set()
    await leaving
    (execution,) = [item for item in people.memory.executions.values() if item.called_tool]
    assert execution.status is Status.KILLED


async def test_who_leaves_a_task_does_not_stop_it(people: McpStage) -> None:
    people.queue.is_open = False
    people.memory.tasks["task_report"] = replace(people.chat_task, id="task_report")
    posting = people.client().begin("tools/call", {"name": "run_task", "arguments": {"task_id": "task_report"}})
    await people.queue.has_news.wait()
    await posting.leave()
    (execution,) = [item for item in people.memory.executions.values() if item.task == "task_report"]
    assert execution.status is Status.QUEUED


async def test_what_takes_too_long_is_picked_up_by_any_client(people: McpStage) -> None:
    people.answer_wait_s, people.queue.is_open = 0.05, False
    about = (await people.client().call_tool("http_get", {"url": URL})).result["structuredContent"]
    assert (about["ok"], about["status"]) == (None, "queued")
    people.queue.deliver()
    other = people.client(people.member(Role.VIEWER))
    picked = await other.call_tool("get_execution", {"execution_id": about["execution_id"], "wait_s": 5})
    assert picked.result["content"][0]["text"] == "42"


async def test_beyond_the_streams_of_the_plan_a_call_is_not_waited_for(people: McpStage) -> None:
    people.queue.is_open = False
    deps = people.deps()
    deps.watchers["ann"] = PLANS["pro"].streams
    answer = await McpClient(deps, people.headers, {}).call_tool("http_get", {"url": URL})
    assert answer.result["structuredContent"]["status"] == "queued"
    assert deps.watchers["ann"] == PLANS["pro"].streams


async def test_a_key_that_is_revoked_meanwhile_is_not_told_the_result(people: McpStage) -> None:
    people.queue.is_open = False
    posting = people.client().begin("tools/call", {"name": "http_get", "arguments": {"url": URL}})
    await people.queue.has_news.wait()
    people.memory.keys.clear()
    people.queue.deliver()
    answer = await posting.finish()
    assert (answer.status, answer.code) == (401, 401)


async def test_a_client_of_2025_calls_a_tool_in_its_session(people: McpStage) -> None:
    client = people.client()
    await client.initialize()
    answer = await client.call_old("tools/call", {"name": "http_get", "arguments": {"url": URL}})
    assert answer.result["content"][0]["text"] == "42"


async def test_progress_is_told_while_a_call_runs(people: McpStage) -> None:
    posting = people.client().begin(
        "tools/call", {"name": "http_get", "arguments": {"url": URL}, "_meta": {"progressToken": "p"}}
    )
    messages = (await posting.finish()).messages
    reports = [message["params"] for message in messages if message.get("method") == "notifications/progress"]
    assert reports
    assert {params["progressToken"] for params in reports} == {"p"}
    assert [params["progress"] for params in reports] == sorted({params["progress"] for params in reports})
