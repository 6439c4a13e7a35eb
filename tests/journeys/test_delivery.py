"""Whatever is delivered twice or dies on the way: each effect happens once, and the execution ends."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from uuid import uuid4

from ferryman.stack.environment import LOCATION, QUEUE, QUEUE_CALLER, build_account
from tests.journeys.conftest import Journey, asks, call, says

HOST = "api.coingecko.com"
WAIT_MAX_S = 60


async def get_once(journey: Journey) -> str:
    """Return a task that makes one GET."""
    await journey.serve(HOST)
    return await journey.task(
        asks(call("http_get", url=journey.url(HOST))),
        says("Done.", expect=('"ok"',)),
        tools=["http_get"],
        integrations=["coingecko"],
    )


async def deliver_again(journey: Journey, execution: str) -> None:
    """Put the execution into the queue under a name of its own, and wait until the queue has let go of it."""
    project, url = journey.stack["project"], journey.stack["functions"]["orchestrator"]
    parent = f"projects/{project}/locations/{LOCATION}/queues/{QUEUE}"
    request: dict[str, Any] = {
        "url": url,
        "headers": {"Content-Type": "application/json"},
        "body": json.dumps({"execution": execution, "slice": 0, "waits": 0}).encode(),
        "oidc_token": {"service_account_email": build_account(QUEUE_CALLER, project), "audience": url},
    }
    name = f"{parent}/tasks/again-{uuid4().hex}"
    client = journey.clients.tasks()
    await client.create_task(request={"parent": parent, "task": {"name": name, "http_request": request}})
    async with asyncio.timeout(WAIT_MAX_S):
        while name in [task.name async for task in await client.list_tasks(request={"parent": parent})]:  # noqa: ASYNC110 - a queue's
            await asyncio.sleep(0.05)


async def test_a_second_delivery_of_a_finished_execution_changes_nothing(journey: Journey) -> None:
    record = await journey.run(await get_once(journey))
    await deliver_again(journey, record["execution_id"])
    assert await journey.client.get_execution(record["execution_id"]) == record
    assert len(await journey.received(HOST)) == 1


async def test_a_second_delivery_of_a_running_execution_repeats_no_call(journey: Journey) -> None:
    task = await get_once(journey)
    await journey.serve(HOST, delay_s=1.0)
    execution = (await journey.client.start_execution(task))["execution_id"]
    async for event in journey.client.stream_events(execution):
        if event.kind == "tool_call":
            break
    await deliver_again(journey, execution)
    record = await journey.await_end(execution)
    assert (record["status"], record["tool_calls_total"]) == ("completed", 1)
    assert len(await journey.received(HOST)) == 1


async def test_a_tool_function_that_died_is_started_again_and_the_execution_completes(journey: Journey) -> None:
    task = await get_once(journey)
    await journey.admin.kill("http_get")
    record = await journey.run(task)
    assert (record["status"], record["output"]) == ("completed", "Done.")
    assert len(await journey.received(HOST)) == 1


async def test_an_orchestrator_that_dies_between_turns_is_taken_over_and_repeats_no_call(journey: Journey) -> None:
    task = await get_once(journey)
    execution = (await journey.client.start_execution(task))["execution_id"]
    async for event in journey.client.stream_events(execution):
        if event.kind == "tool_call":
            break
    await journey.admin.kill("orchestrator")
    record = await journey.await_end(execution)
    assert record["status"] == "completed"
    assert len(await journey.received(HOST)) == 1
