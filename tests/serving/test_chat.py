"""Messages over HTTP: asked, answered, asked again, edited, and waited for; each is stored once."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from ferryman.domain.conversations.chat_task import derive_chat_task
from ferryman.domain.conversations.message import AnswerState
from ferryman.domain.executions.execution import Status
from ferryman.domain.workspaces.member import Right, Role
from ferryman.domain.workspaces.names import derive_default_agent, derive_default_workspace
from ferryman.inmemory.executions import MemoryExecutions
from ferryman.ports.executions import ExecutionEnding
from tests.contracts.values import LEASE

from .conftest import Stage

AGENT = derive_default_agent(derive_default_workspace("ann"))
CHAT, MESSAGES = f"/api/agents/{AGENT}/chat", "/v1/conversations/conv_ann/messages"
HELLO = {"content": "When does the ferry leave?", "model": "scripted/hello"}


async def answer(stage: Stage, execution: str, text: str = "At 23:00.", status: Status = Status.COMPLETED) -> None:
    """End the execution with an answer, as the loop does."""
    executions = MemoryExecutions(stage.memory)
    claimed, _ = await executions.claim(execution, slice=0, holder="h", now=stage.clock.now(), lease=LEASE)
    await executions.finish(claimed, ExecutionEnding(status=status, output=text), now=stage.clock.now())


async def say(client: httpx.AsyncClient, path: str = MESSAGES, **fields: Any) -> dict[str, Any]:
    response = await client.post(path, json={**HELLO, **fields})
    assert response.status_code in (200, 202), response.text
    body: dict[str, Any] = response.json()
    return body


async def wait_for_delivery(stage: Stage) -> None:
    """Let others go on until something is in the queue."""
    for _ in range(10_000):
        if stage.queue.waiting:
            return
        await asyncio.sleep(0)
    raise AssertionError("nothing was enqueued")


def name_execution(body: dict[str, Any]) -> str:
    return str(body["assistantMessage"]["metadata"]["execution_id"])


async def test_a_message_to_an_agent_begins_a_conversation_with_its_chat_task(client: httpx.AsyncClient, stage: Stage) -> None:
    body = await say(client, CHAT)
    stored = stage.memory.conversations[body["conversationId"]]
    assert (stored.agent, stored.task, stored.title) == (AGENT, derive_chat_task(AGENT), HELLO["content"])
    assert (body["userMessage"]["number"], body["assistantMessage"]["number"]) == (1, 2)
    assert name_execution(body) in {delivery.execution for delivery in stage.queue.waiting}


async def test_the_next_message_names_the_conversation(client: httpx.AsyncClient) -> None:
    first = await say(client, CHAT)
    second = await say(client, CHAT, conversationId=first["conversationId"])
    assert (second["userMessage"]["number"], second["userMessage"]["parent"]) == (3, 2)


async def test_the_chat_task_has_the_tools_that_need_nothing_approved(client: httpx.AsyncClient, stage: Stage) -> None:
    await say(client, CHAT)
    tools = stage.memory.tasks[derive_chat_task(AGENT)].tools
    assert {"calculator", "web_fetch"} <= set(tools)
    assert not {"api_call", "http_get", "webhook", "call_custom_tool", "import_openapi_tools"} & set(tools)


async def test_a_task_is_talked_with_in_the_place_of_its_agent(client: httpx.AsyncClient, stage: Stage, task: str) -> None:
    body = await say(client, f"/api/agents/{task}/chat")
    assert stage.memory.executions[name_execution(body)].task == task


async def test_an_answer_is_waited_for(client: httpx.AsyncClient, stage: Stage, app: FastAPI) -> None:
    app.state.deps = replace(stage.deps(), answer_wait_s=1_000_000, poll_s=0)
    asking = asyncio.create_task(say(client))
    await wait_for_delivery(stage)
    await answer(stage, stage.queue.waiting[0].execution)
    body = await asking
    metadata = body["assistantMessage"]["metadata"]
    assert (body["assistantMessage"]["content"], metadata["state"]) == ("At 23:00.", "complete")


async def test_who_waits_is_told_nothing_once_the_key_is_revoked(client: httpx.AsyncClient, stage: Stage, app: FastAPI) -> None:
    app.state.deps = replace(stage.deps(), answer_wait_s=1_000_000, poll_s=0)
    asking = asyncio.create_task(client.post(MESSAGES, json=HELLO))
    await wait_for_delivery(stage)
    stage.memory.keys.clear()
    await answer(stage, stage.queue.waiting[0].execution)
    assert (await asking).status_code == 401


async def test_an_answer_that_takes_longer_is_pending_and_says_where_its_events_are(client: httpx.AsyncClient) -> None:
    response = await client.post(MESSAGES, json=HELLO)
    body = response.json()
    assert (response.status_code, body["assistantMessage"]["metadata"]["state"]) == (202, "pending")
    assert body["events"] == f"/v1/executions/{name_execution(body)}/events"


async def test_a_retry_under_its_idempotency_key_asks_once_and_has_the_answer(client: httpx.AsyncClient, stage: Stage) -> None:
    headers = {"Idempotency-Key": '"ferry"'}
    first = await client.post(CHAT, json=HELLO, headers=headers)
    await answer(stage, name_execution(first.json()))
    second = await client.post(CHAT, json=HELLO, headers=headers)
    assert (first.status_code, second.status_code, second.headers["Idempotency-Replayed"]) == (202, 200, "true")
    assert second.json()["assistantMessage"]["content"] == "At 23:00."
    assert second.json()["userMessage"] == first.json()["userMessage"]
    assert len(stage.memory.executions) == 1


async def test_another_answer_is_a_branch_and_the_one_that_is_shown(client: httpx.AsyncClient, stage: Stage) -> None:
    body = (await client.post(f"{MESSAGES}/2/regenerate", json={"model": "scripted/hello"})).json()
    assert (body["userMessage"], body["assistantMessage"]["number"], body["assistantMessage"]["parent"]) == (None, 3, 1)
    assert stage.memory.conversations["conv_ann"].head == 3
    assert stage.memory.executions[name_execution(body)].input == "When?"


async def test_an_edit_takes_the_place_of_a_message_in_another_branch(client: httpx.AsyncClient) -> None:
    await say(client)
    body = await say(client, edits=3)
    assert (body["userMessage"]["number"], body["userMessage"]["parent"]) == (5, 2)


async def test_a_branch_begins_after_any_answer(client: httpx.AsyncClient) -> None:
    await say(client)
    body = await say(client, after=2)
    assert (body["userMessage"]["number"], body["userMessage"]["parent"]) == (5, 2)


async def test_a_branch_is_listed_from_its_end(client: httpx.AsyncClient, stage: Stage) -> None:
    await answer(stage, name_execution(await say(client)))
    await answer(stage, name_execution(await say(client, edits=3)), "Another.")
    page = (await client.get(MESSAGES, params={"branch": 6, "limit": 3})).json()
    assert [message["number"] for message in page["messages"]] == [6, 5, 2]
    rest = (await client.get(MESSAGES, params={"branch": 6, "limit": 3, "cursor": page["next"]})).json()
    assert ([message["number"] for message in rest["messages"]], rest["next"]) == ([1], None)


async def test_a_branch_whose_answer_is_waited_for_is_listed_from_its_question(client: httpx.AsyncClient) -> None:
    body = await say(client)
    page = (await client.get(MESSAGES, params={"branch": body["assistantMessage"]["number"]})).json()
    assert [message["number"] for message in page["messages"]] == [3, 2, 1]


@pytest.mark.parametrize(
    ("fields", "status", "field"),
    [
        ({"content": ""}, 422, "content"),
        ({"content": "x" * 20_001}, 422, "content"),
        ({"content": " \n\t"}, 422, "content"),
        ({"model": "none-such"}, 422, "model"),
        ({"model": None}, 422, "model"),
        ({"enableTools": "yes"}, 422, "enableTools"),
        ({"attachments": ["none.md"]}, 422, "attachments.0"),
        ({"attachments": ["notes.md", "notes.md"]}, 422, "attachments.1"),
        ({"edits": 2}, 409, None),
        ({"edits": 9}, 404, None),
        ({"after": 1}, 409, None),
    ],
)
async def test_what_is_not_accepted_is_named_and_stores_nothing(
    client: httpx.AsyncClient, stage: Stage, fields: dict[str, Any], status: int, field: str | None
) -> None:
    response = await client.post(MESSAGES, json={**HELLO, **fields})
    assert response.status_code == status, response.text
    assert field is None or [error["field"] for error in response.json()["errors"]] == [field]
    assert not stage.memory.executions


async def test_files_are_attached_as_they_are_now_and_named_to_the_model(client: httpx.AsyncClient, stage: Stage) -> None:
    body = await say(client, attachments=["notes.md"])
    (attached,) = body["userMessage"]["attachments"]
    assert (attached["key"], attached["etag"], attached["size_bytes"]) == ("notes.md", "0", 6)
    execution = stage.memory.executions[name_execution(body)]
    assert str(execution.input).startswith(HELLO["content"])
    assert '"key": "notes.md"' in str(execution.input)


async def test_a_request_chooses_its_model_and_whether_it_has_tools(client: httpx.AsyncClient, stage: Stage) -> None:
    execution = stage.memory.executions[name_execution(await say(client, enableTools=False))]
    assert (execution.model, execution.enable_tools) == ("scripted/hello", False)


async def test_stopping_ends_every_answer_that_is_waited_for(client: httpx.AsyncClient, stage: Stage) -> None:
    await say(client)
    await say(client)
    stopped = (await client.post("/v1/conversations/conv_ann/stop")).json()
    assert stopped["pending"] == []
    assert [stage.memory.messages["conv_ann"][number].state for number in (4, 6)] == [AnswerState.STOPPED] * 2


async def test_one_answer_alone_is_stopped_where_it_is_named(client: httpx.AsyncClient) -> None:
    await say(client)
    await say(client)
    stopped = (await client.post("/v1/conversations/conv_ann/stop", params={"answer": 6})).json()
    assert [pending["number"] for pending in stopped["pending"]] == [4]


async def test_nothing_is_asked_of_an_archived_agent(client: httpx.AsyncClient) -> None:
    await client.post("/v1/agents/agent_ann/archive")
    response = await client.post("/api/agents/agent_ann/chat", json=HELLO)
    assert (response.status_code, response.json()["detail"]) == (409, "the agent is archived: restore it first")


async def test_a_conversation_is_asked_in_under_its_own_agent_alone(client: httpx.AsyncClient) -> None:
    response = await client.post("/api/agents/agent_ann/chat", json={**HELLO, "conversationId": "conv_ann"})
    assert response.status_code == 404


async def test_a_member_of_another_workspace_finds_no_conversation(client: httpx.AsyncClient, stage: Stage) -> None:
    member = stage.member(Role.ADMIN, workspace="ws_ann")
    assert (await client.get(MESSAGES, headers=member)).status_code == 404
    assert (await client.post(MESSAGES, json=HELLO, headers=member)).status_code == 404


async def test_who_may_only_read_reads_and_asks_nothing(client: httpx.AsyncClient, stage: Stage) -> None:
    viewer = stage.member(Role.VIEWER, scopes=[Right.READ])
    assert (await client.get(MESSAGES, headers=viewer)).status_code == 200
    assert (await client.post(MESSAGES, json=HELLO, headers=viewer)).status_code == 403


async def test_a_deleted_conversation_is_no_longer_there_and_is_deleted_by_one_job(client: httpx.AsyncClient) -> None:
    first = await client.delete("/v1/conversations/conv_ann")
    again = await client.delete("/v1/conversations/conv_ann")
    assert (first.status_code, first.json()["kind"]) == (202, "delete_conversation")
    assert again.json()["job_id"] == first.json()["job_id"]
    assert (await client.get("/v1/conversations/conv_ann")).status_code == 404


async def test_the_tools_of_an_agent_s_conversations_are_those_of_its_chat_task(client: httpx.AsyncClient) -> None:
    before = await client.get(f"{CHAT}/tools")
    await say(client, CHAT)
    names = {tool["name"] for tool in (await client.get(f"{CHAT}/tools")).json()["tools"]}
    assert (before.status_code, {"calculator", "web_fetch"} <= names) == (404, True)


async def test_a_message_that_is_refused_begins_no_conversation(client: httpx.AsyncClient, stage: Stage) -> None:
    before = set(stage.memory.conversations)
    for fields in ({"model": None}, {"content": " "}, {"attachments": ["none.md"]}):
        assert (await client.post(CHAT, json={**HELLO, **fields})).status_code == 422
    assert set(stage.memory.conversations) == before


async def test_another_answer_needs_a_model_too(client: httpx.AsyncClient) -> None:
    response = await client.post(f"{MESSAGES}/2/regenerate")
    assert (response.status_code, response.json()["errors"][0]["field"]) == (422, "model")


async def test_a_chat_task_is_changed_although_neither_it_nor_its_agent_names_a_model(client: httpx.AsyncClient) -> None:
    await say(client, CHAT)
    changed = await client.patch(f"/v1/tasks/{derive_chat_task(AGENT)}", json={"tools": ["calculator"]})
    assert (changed.status_code, changed.json()["tools"]) == (200, ["calculator"])


async def test_a_number_that_no_message_can_have_is_refused(client: httpx.AsyncClient) -> None:
    paths = (f"{MESSAGES}?branch=10001", MESSAGES.replace("messages", "events?answer=10001"))
    assert [(await client.get(path)).status_code for path in paths] == [422, 422]


async def test_an_answer_that_is_not_written_is_kept_by_no_cache(client: httpx.AsyncClient) -> None:
    response = await client.get(MESSAGES.replace("messages", "events?answer=9"))
    assert (response.status_code, response.headers["Cache-Control"]) == (204, "no-store")
