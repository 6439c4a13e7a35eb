"""Executions over HTTP: started once, listed newest first, cancelled, and their record in full."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import httpx
import pytest

from ferryman.domain.call import Ticket, TicketState, ToolCallResult
from ferryman.domain.execution import Status
from ferryman.domain.usage import Usage
from ferryman.local.clock import START
from ferryman.local.queue import Delivery
from ferryman.ports import Unavailable
from ferryman.serving import api
from ferryman.serving.api.shapes import call as shapes

from .conftest import Stage

RESULT = ToolCallResult(
    tool="api_call",
    content="<tool_response>ok</tool_response>",
    url="https://api.github.com/user",
    method="GET",
    credential_used="GITHUB_TOKEN",
    response_status=200,
    response_size_bytes=2,
    latency_ms=12.5,
)


async def started(client: httpx.AsyncClient, task: str, **body: str) -> str:
    answer = await client.post(f"/v1/tasks/{task}/executions", json=body or None)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["execution_id"])


async def test_a_started_execution_is_stored_and_then_enqueued(client: httpx.AsyncClient, task: str, stage: Stage) -> None:
    answer = await client.post(f"/v1/tasks/{task}/executions", json={"input": "Paris"})
    body = answer.json()
    assert answer.headers["location"] == f"/v1/executions/{body['execution_id']}"
    assert (body["status"], body["input"], body["task_id"]) == ("queued", "Paris", task)
    assert stage.queue.waiting == (Delivery(body["execution_id"], 0, timedelta(0)),)
    assert (await client.get(answer.headers["location"])).json() == body


async def test_an_execution_needs_no_body(client: httpx.AsyncClient, task: str) -> None:
    answer = await client.post(f"/v1/tasks/{task}/executions")
    assert (answer.status_code, answer.json()["input"]) == (202, None)


async def test_too_long_an_input_starts_nothing(client: httpx.AsyncClient, task: str, stage: Stage) -> None:
    answer = await client.post(f"/v1/tasks/{task}/executions", json={"input": "x" * 20_001})
    assert answer.json()["errors"] == [{"field": "input", "message": "String should have at most 20000 characters"}]
    assert not stage.memory.executions
    assert not stage.queue.waiting


@pytest.mark.parametrize("fault", [Unavailable("no answer"), PermissionError("not yours"), ValueError("no such queue")])
async def test_a_queue_that_fails_keeps_nobody_waiting(task: str, stage: Stage, fault: Exception) -> None:
    class Failing:
        async def enqueue(self, execution: str, *, slice: int, after: timedelta = timedelta(0)) -> None:
            raise fault

    app = api.create(replace(stage.house(), queue=Failing()))
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://api.test", headers=stage.owner("ann")) as client:
        execution = await started(client, task)
    told = {"severity": "WARNING", "execution": execution, "error": type(fault).__name__}
    assert stage.log.lines[-1] == ("execution.not_enqueued", told)


async def test_executions_are_listed_newest_first(client: httpx.AsyncClient, task: str, stage: Stage) -> None:
    ids = []
    for _ in range(3):
        ids.append(await started(client, task))
        stage.clock.turn(1)
    listed = (await client.get("/v1/executions")).json()["executions"]
    assert [each["execution_id"] for each in listed] == ids[::-1]
    listed = (await client.get(f"/v1/tasks/{task}/executions", params={"limit": 2})).json()["executions"]
    assert [each["execution_id"] for each in listed] == ids[:0:-1]


async def test_a_list_takes_one_to_a_hundred(client: httpx.AsyncClient) -> None:
    for limit in ("0", "101", "many"):
        answer = await client.get("/v1/executions", params={"limit": limit})
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "limit")


async def test_a_queued_execution_is_cancelled_at_once(client: httpx.AsyncClient, task: str) -> None:
    execution = await started(client, task)
    body = (await client.post(f"/v1/executions/{execution}/cancel")).json()
    assert (body["status"], body["cancel_requested"], body["error"]) == ("killed", True, "cancelled before it started")
    assert (await client.post(f"/v1/executions/{execution}/cancel")).json() == body


async def test_the_record_has_its_calls_in_ten_fields(client: httpx.AsyncClient, task: str, stage: Stage) -> None:
    execution = await started(client, task)
    known = stage.memory.executions
    known[execution] = replace(
        known[execution],
        status=Status.COMPLETED,
        started_at=START,
        completed_at=START,
        iterations=2,
        credits_used=Decimal("3.250"),
        usage=Usage(input_tokens=10, output_tokens=5),
        tool_calls=(RESULT,),
        tool_calls_total=1,
        output="done",
    )
    body = (await client.get(f"/v1/executions/{execution}")).json()
    assert body["tool_calls"] == [
        {
            "tool": "api_call",
            "content": "<tool_response>ok</tool_response>",
            "url": "https://api.github.com/user",
            "method": "GET",
            "credential_used": "GITHUB_TOKEN",
            "response_status": 200,
            "response_size_bytes": 2,
            "latency_ms": 12.5,
            "blocked": False,
            "block_reason": None,
        }
    ]
    assert (body["credits_used"], body["output"], body["usage"]["input_tokens"]) == ("3.25", "done", 10)


async def test_the_calls_show_what_was_scanned_and_not_what_was_sealed(
    client: httpx.AsyncClient, task: str, stage: Stage
) -> None:
    execution = await started(client, task)
    ticket = Ticket(
        seq=0,
        step=1,
        call="toolu_1",
        tool="api_call",
        arguments=b"sealed",
        shown={"url": "https://api.github.com/user"},
        epoch=1,
        state=TicketState.SETTLED,
        attempt=1,
        created_at=START,
        sent_at=START,
        settled_at=START,
        result=replace(RESULT, content="x" * 5_000),
    )
    stage.memory.tickets[execution] = {0: ticket, 1: replace(ticket, seq=1, state=TicketState.INTENDED, result=None)}
    first, second = (await client.get(f"/v1/executions/{execution}/calls")).json()["calls"]
    assert set(first) == set(shapes.CallShown.model_fields)
    assert (first["arguments"], first["iteration"], len(first["result"]["content"])) == (
        {"url": "https://api.github.com/user"},
        1,
        5_000,
    )
    assert (second["state"], second["result"]) == ("intended", None)
