"""Direct calls over HTTP: an execution that makes one call of a tool, started as any other is."""

from __future__ import annotations

from dataclasses import replace

import httpx

from ferryman.domain.executions.execution import ARGUMENTS_CHARACTERS_MAX

from .conftest import Stage

ARGUMENTS = {"url": "https://api.github.com/zen"}


async def call(client: httpx.AsyncClient, task: str, **body: object) -> httpx.Response:
    return await client.post(f"/v1/tasks/{task}/calls", json={"tool": "http_get", "arguments": ARGUMENTS, **body})


async def test_a_call_is_stored_as_an_execution_and_enqueued(client: httpx.AsyncClient, task: str, stage: Stage) -> None:
    answer = await call(client, task)
    body = answer.json()
    assert (answer.status_code, body["status"], body["called_tool"]) == (202, "queued", "http_get")
    assert body["input"] == '{"url":"https://api.github.com/zen"}'
    assert answer.headers["location"] == f"/v1/executions/{body['execution_id']}"
    assert [waiting.execution for waiting in stage.queue.waiting] == [body["execution_id"]]


async def test_it_is_not_taken_for_what_an_mcp_client_started(client: httpx.AsyncClient, task: str, stage: Stage) -> None:
    stored = stage.memory.executions[(await call(client, task)).json()["execution_id"]]
    assert (stored.is_from_client, stored.task, stored.person) == (False, task, "")


async def test_a_request_that_is_repeated_calls_once(client: httpx.AsyncClient, task: str, stage: Stage) -> None:
    headers = {"Idempotency-Key": '"once"'}
    body = {"tool": "http_get", "arguments": ARGUMENTS}
    first, again = [await client.post(f"/v1/tasks/{task}/calls", json=body, headers=headers) for _ in range(2)]
    assert (first.json(), len(stage.queue.waiting)) == (again.json(), 1)


async def test_what_is_no_name_of_a_tool_names_its_field(client: httpx.AsyncClient, task: str, stage: Stage) -> None:
    answer = await call(client, task, tool="http get")
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "tool")
    assert stage.queue.waiting == ()


async def test_longer_arguments_are_refused_with_the_limit(client: httpx.AsyncClient, task: str, stage: Stage) -> None:
    answer = await call(client, task, arguments={"url": "x" * ARGUMENTS_CHARACTERS_MAX})
    (error,) = answer.json()["errors"]
    assert (answer.status_code, error["field"], "100,000 characters" in error["message"]) == (422, "arguments", True)
    assert stage.queue.waiting == ()


async def test_a_task_that_is_disabled_calls_nothing(client: httpx.AsyncClient, task: str, stage: Stage) -> None:
    stage.memory.tasks[task] = replace(stage.memory.tasks[task], enabled=False)
    assert (await call(client, task)).status_code == 409
    assert stage.queue.waiting == ()


async def test_a_task_of_another_owner_is_not_found(client: httpx.AsyncClient, task: str, stage: Stage) -> None:
    answer = await client.post(f"/v1/tasks/{task}/calls", json={"tool": "http_get"}, headers=stage.owner("bob"))
    assert answer.status_code == 404
