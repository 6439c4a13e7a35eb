"""Executions over HTTP: started once, listed newest first, cancelled, and their record in full."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import httpx
import pytest

from ferryman.catalog.tools import get_fee
from ferryman.domain.calls.call import TicketState, ToolCallResult
from ferryman.domain.credits.amount import format_credits
from ferryman.domain.executions.execution import Execution, Status
from ferryman.domain.executions.occupancy import START_SPACING, Occupancy, compute_pause
from ferryman.domain.executions.usage import Usage
from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.owners.plan import PRO
from ferryman.domain.receipts.receipt import Head
from ferryman.inmemory.clock import START
from ferryman.inmemory.executions import MemoryExecutions
from ferryman.inmemory.queue import QueuedDelivery
from ferryman.ports.errors import UnavailableError
from ferryman.serving.api.limits import start_rate
from ferryman.serving.api.refusals import REPEATED
from ferryman.serving.api.shapes import call as shapes
from tests.builders import build_settled_ticket, build_step

from .conftest import Stage, create_app

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
    assert stage.queue.waiting == (QueuedDelivery(body["execution_id"], 0, timedelta(0)),)
    assert (await client.get(answer.headers["location"])).json() == body


async def test_an_execution_needs_no_body(client: httpx.AsyncClient, task: str) -> None:
    answer = await client.post(f"/v1/tasks/{task}/executions")
    assert (answer.status_code, answer.json()["input"]) == (202, None)


async def test_an_execution_is_started_in_a_conversation(client: httpx.AsyncClient, task: str, stage: Stage) -> None:
    name = await started(client, task, conversation="thread-7")
    assert stage.memory.executions[name].conversation == "thread-7"
    assert (await client.get(f"/v1/executions/{name}")).json()["conversation_id"] == "thread-7"


@pytest.mark.parametrize("conversation", ["", "a/b", "a b", "-a", "a.b", "ä", "x" * 65, "conv_1"])
async def test_a_conversation_has_an_id_and_nothing_else(
    client: httpx.AsyncClient, task: str, stage: Stage, conversation: str
) -> None:
    answer = await client.post(f"/v1/tasks/{task}/executions", json={"conversation": conversation})
    assert (answer.status_code, [problem["field"] for problem in answer.json()["errors"]]) == (422, ["conversation"])
    assert not stage.memory.executions


async def test_too_long_an_input_starts_nothing(client: httpx.AsyncClient, task: str, stage: Stage) -> None:
    answer = await client.post(f"/v1/tasks/{task}/executions", json={"input": "x" * 20_001})
    assert answer.json()["errors"] == [{"field": "input", "message": "String should have at most 20000 characters"}]
    assert not stage.memory.executions
    assert not stage.queue.waiting


@pytest.mark.parametrize("fault", [UnavailableError("no answer"), PermissionError("not yours"), ValueError("no such queue")])
async def test_a_queue_that_fails_keeps_nobody_waiting(task: str, stage: Stage, fault: Exception) -> None:
    class Failing:
        async def enqueue(self, execution: str, *, slice: int, after: timedelta = timedelta(0)) -> None:
            raise fault

    app = create_app(replace(stage.deps(), queue=Failing()))
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://api.test", headers=stage.owner("ann")) as client:
        execution = await started(client, task)
    warning = {"severity": "WARNING", "execution": execution, "error": type(fault).__name__}
    assert stage.log.lines[-1] == ("execution.not_enqueued", warning)


async def test_a_disabled_task_starts_nothing_and_is_named(client: httpx.AsyncClient, task: str, stage: Stage) -> None:
    assert (await client.patch(f"/v1/tasks/{task}", json={"enabled": False})).status_code == 200
    answer = await client.post(f"/v1/tasks/{task}/executions")
    assert (answer.status_code, answer.headers["content-type"]) == (409, "application/problem+json")
    assert answer.json()["detail"] == f"nothing is started: task {task} is disabled or deleted; enable it first"
    assert (stage.memory.executions, stage.queue.waiting) == ({}, ())


async def test_a_task_that_is_disabled_while_it_is_started_starts_nothing(task: str, stage: Stage) -> None:
    class Racing(MemoryExecutions):
        async def start(self, execution: Execution, *, most: int, done: Completion | None = None) -> None:
            stage.memory.tasks[task] = replace(stage.memory.tasks[task], enabled=False)
            await super().start(execution, most=most, done=done)

    app = create_app(replace(stage.deps(), executions=Racing(stage.memory)))
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://api.test", headers=stage.owner("ann")) as client:
        assert (await client.post(f"/v1/tasks/{task}/executions")).status_code == 409
    assert (stage.memory.executions, stage.queue.waiting) == ({}, ())


async def test_one_execution_more_than_may_be_queued_is_refused_and_not_stored(
    client: httpx.AsyncClient, task: str, stage: Stage
) -> None:
    stage.memory.occupancy["ann"] = Occupancy(queued={f"exec_{n}": START for n in range(PRO.executions_queued)})
    answer = await client.post(f"/v1/tasks/{task}/executions")
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "30")
    assert "200 executions are queued" in answer.json()["detail"]
    assert (stage.memory.executions, stage.queue.waiting) == ({}, ())


async def test_an_owner_whose_plan_has_no_tasks_starts_none(client: httpx.AsyncClient, task: str, stage: Stage) -> None:
    stage.memory.owners["ann"] = replace(stage.memory.owners["ann"], plan="free")
    assert (await client.post(f"/v1/tasks/{task}/executions")).status_code == 403


async def test_executions_are_listed_newest_first(client: httpx.AsyncClient, task: str, stage: Stage) -> None:
    ids = []
    for _ in range(3):
        ids.append(await started(client, task))
        stage.clock.turn(1)
    listed = (await client.get("/v1/executions")).json()["executions"]
    assert [execution["execution_id"] for execution in listed] == ids[::-1]
    listed = (await client.get(f"/v1/tasks/{task}/executions", params={"limit": 2})).json()["executions"]
    assert [execution["execution_id"] for execution in listed] == ids[:0:-1]


async def test_a_list_takes_one_to_a_hundred(client: httpx.AsyncClient) -> None:
    for limit in ("0", "101", "many"):
        answer = await client.get("/v1/executions", params={"limit": limit})
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "limit")


async def test_a_queued_execution_is_cancelled_at_once(client: httpx.AsyncClient, task: str) -> None:
    execution = await started(client, task)
    body = (await client.post(f"/v1/executions/{execution}/cancel")).json()
    assert (body["status"], body["cancel_requested"], body["error"]) == ("killed", True, "cancelled before it started")
    assert (await client.post(f"/v1/executions/{execution}/cancel")).json() == body


async def test_the_record_has_a_row_for_each_call(client: httpx.AsyncClient, task: str, stage: Stage) -> None:
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
            "ok": True,
            "code": None,
            "suggestion": None,
        }
    ]
    assert (body["credits_used"], body["output"], body["usage"]["input_tokens"]) == ("3.25", "done", 10)


async def test_the_calls_show_what_was_scanned_and_not_what_was_sealed(
    client: httpx.AsyncClient, task: str, stage: Stage
) -> None:
    execution = await started(client, task)
    ticket = build_settled_ticket(
        call="toolu_1",
        tool="api_call",
        arguments=b"sealed",
        display_arguments={"url": "https://api.github.com/user"},
        attempt=1,
        sent_at=START,
        result=replace(RESULT, content="x" * 5_000),
    )
    stage.memory.tickets[execution] = {0: ticket, 1: replace(ticket, seq=1, state=TicketState.INTENDED, result=None)}
    first, second = (await client.get(f"/v1/executions/{execution}/calls")).json()["calls"]
    assert set(first) == set(shapes.ListedCall.model_fields)
    assert (first["arguments"], first["iteration"], len(first["result"]["content"])) == (
        {"url": "https://api.github.com/user"},
        1,
        5_000,
    )
    assert (second["state"], second["result"]) == ("intended", None)


async def test_a_call_names_its_fee_once_it_has_a_result(client: httpx.AsyncClient, task: str, stage: Stage) -> None:
    execution = await started(client, task)
    ticket = build_settled_ticket(tool="api_call", result=replace(RESULT, credential_used="A"))
    stage.memory.tickets[execution] = {0: ticket, 1: replace(ticket, seq=1, state=TicketState.INTENDED, result=None)}
    first, second = (await client.get(f"/v1/executions/{execution}/calls")).json()["calls"]
    assert (first["credits"], second["credits"]) == (format_credits(get_fee(ticket.result)), None)
    assert first["credits"] != "0"


async def test_calls_in_brief_have_no_arguments_and_no_content(client: httpx.AsyncClient, task: str, stage: Stage) -> None:
    execution = await started(client, task)
    ticket = build_settled_ticket(display_arguments={"url": "https://api.github.com/user"}, result=RESULT)
    stage.memory.tickets[execution] = {seq: replace(ticket, seq=seq) for seq in range(3)}
    path = f"/v1/executions/{execution}/calls"
    whole = (await client.get(path)).json()["calls"][1]
    page = (await client.get(f"{path}?details=false&from=1&limit=1")).json()
    result = {**whole["result"], "content": "", "parts": []}
    assert page["calls"] == [{**whole, "arguments": {}, "result": result}]
    following = (await client.get(f"{path}?details=false&limit=1&cursor={page['next']}")).json()
    assert ([call["seq"] for call in following["calls"]], following["next"]) == ([2], None)


async def test_turns_are_paged_from_the_one_that_is_named(client: httpx.AsyncClient, task: str, stage: Stage) -> None:
    execution = await started(client, task)
    content = ({"type": "text", "text": "hm"},)
    stage.memory.steps[execution] = {number: build_step(number=number, content=content) for number in (1, 2, 3)}
    path = f"/v1/executions/{execution}/turns"
    page = (await client.get(f"{path}?from=2&limit=1")).json()
    assert [(turn["number"], turn["content"]) for turn in page["turns"]] == [(2, list(content))]
    following = (await client.get(f"{path}?details=false&limit=1&cursor={page['next']}")).json()
    assert [(turn["number"], turn["content"]) for turn in following["turns"]] == [(3, [])]


async def test_a_turn_that_is_not_signed_names_no_receipt(client: httpx.AsyncClient, task: str, stage: Stage) -> None:
    execution = await started(client, task)
    stage.memory.steps[execution] = {1: build_step(number=1), 2: build_step(number=2, first_call=1)}
    known = stage.memory.executions[execution]
    stage.memory.executions[execution] = replace(known, receipts=Head(count=4, hash="0" * 64))
    turns = (await client.get(f"/v1/executions/{execution}/turns")).json()["turns"]
    assert [turn["receipt"] for turn in turns] == [1, None]


async def test_a_key_that_met_a_full_queue_starts_the_execution_when_it_comes_again(
    client: httpx.AsyncClient, task: str, stage: Stage
) -> None:
    key = {"Idempotency-Key": '"again"'}
    stage.memory.occupancy["ann"] = Occupancy(queued={f"exec_{n}": START for n in range(PRO.executions_queued)})
    assert (await client.post(f"/v1/tasks/{task}/executions", headers=key)).status_code == 429
    stage.memory.occupancy["ann"] = Occupancy()
    stage.clock.turn(REPEATED.total_seconds())
    assert (await client.post(f"/v1/tasks/{task}/executions", headers=key)).status_code == 202


async def test_an_execution_that_finds_no_slot_is_delivered_later(client: httpx.AsyncClient, task: str, stage: Stage) -> None:
    until = stage.clock.now() + timedelta(minutes=1)
    stage.memory.occupancy["ann"] = Occupancy(running={f"exec_{n}": until for n in range(PRO.executions_running)})
    execution = await started(client, task)
    assert stage.queue.waiting == (
        QueuedDelivery(execution, 0, compute_pause(stage.memory.executions[execution], queued=1, waits=0)),
    )


async def test_executions_that_are_started_together_begin_one_after_the_other(
    client: httpx.AsyncClient, task: str, stage: Stage
) -> None:
    for _ in range(3):
        await started(client, task)
    assert [delivery.after for delivery in stage.queue.waiting] == [0 * START_SPACING, START_SPACING, 2 * START_SPACING]


async def test_an_execution_beside_running_ones_does_not_wait_for_them(
    client: httpx.AsyncClient, task: str, stage: Stage
) -> None:
    until = stage.clock.now() + timedelta(minutes=1)
    stage.memory.occupancy["ann"] = Occupancy(running={f"exec_{n}": until for n in range(PRO.executions_running - 1)})
    await started(client, task)
    assert stage.queue.waiting[0].after == timedelta(0)


async def test_a_slot_whose_lease_may_have_ended_is_asked_for_at_once(
    client: httpx.AsyncClient, task: str, stage: Stage
) -> None:
    until = stage.clock.now()
    stage.memory.occupancy["ann"] = Occupancy(running={f"exec_{n}": until for n in range(PRO.executions_running)})
    await started(client, task)
    assert stage.queue.waiting[0].after == timedelta(0)


async def test_executions_are_started_at_a_rate(client: httpx.AsyncClient, task: str, stage: Stage) -> None:
    rate = start_rate(PRO)
    for _ in range(rate.at_once):
        await started(client, task)
    refused = await client.post(f"/v1/tasks/{task}/executions")
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
    assert refused.json()["detail"] == "you may ask for 10 executions at once and one more every 1 seconds here"
    stage.clock.turn(1)
    await started(client, task)


async def test_what_was_refused_a_moment_ago_is_refused_without_a_look(
    client: httpx.AsyncClient, task: str, stage: Stage
) -> None:
    stage.memory.occupancy["ann"] = Occupancy(queued={f"exec_{n}": START for n in range(PRO.executions_queued)})
    first = await client.post(f"/v1/tasks/{task}/executions")
    stage.memory.occupancy["ann"] = Occupancy()
    second = await client.post(f"/v1/tasks/{task}/executions")
    assert (second.status_code, second.headers["retry-after"], second.json()) == (429, "30", first.json())
    assert (await client.get("/v1/executions")).status_code == 200  # another route
    stage.clock.turn(REPEATED.total_seconds())
    await started(client, task)


async def test_the_execution_of_a_title_is_listed_as_one(client: httpx.AsyncClient, task: str, stage: Stage) -> None:
    titled, other = await started(client, task), await started(client, task)
    stage.memory.executions[titled] = replace(stage.memory.executions[titled], conversation="conv_1", titled_answer=2)
    listed = {item["execution_id"]: item for item in (await client.get("/v1/executions")).json()["executions"]}
    assert (listed[titled]["titled_answer"], "titled_answer" in listed[other]) == (2, False)
