"""An MCP client through the whole stack: calls of tools, tasks that survive every death, and a call that waits for a person."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from secrets import token_urlsafe
from typing import Any

import httpx
import pytest

from ferryman import verify_receipts
from ferryman.client.errors import ApiUnreachableError
from ferryman.replay import run_replay
from ferryman.serving import bundle
from tests.journeys.conftest import Journey, asks, call, says
from tests.journeys.mcp_client import PAGES, TASKS, McpClient
from tests.journeys.test_command_line import Shell

HOST = "api.coingecko.com"


@pytest.fixture
async def mcp(stack: Mapping[str, Any], key: str) -> AsyncIterator[McpClient]:
    async with McpClient(stack["url"], key) as client:
        yield client


async def set_chat_task(journey: Journey, **fields: Any) -> str:
    """Return the chat task of the default agent, which has these fields from now on."""
    task = str((await journey.client.create_conversation())["task_id"])
    await journey.client.change_task(task, fields)
    return task


async def test_a_call_is_an_execution_with_receipts_and_a_replay_like_any_other(journey: Journey, mcp: McpClient) -> None:
    await journey.serve(HOST, json={"price": 42})
    await set_chat_task(journey, tools=["http_get"], integrations=["coingecko"])
    result = await mcp.call("http_get", {"url": journey.url(HOST)})
    about = result["structuredContent"]
    assert (about["ok"], about["integrity"]) == (True, "untrusted")
    assert "<tool_response" in result["content"][0]["text"]
    record = await journey.client.get_record(about["execution_id"])
    assert (record["execution"]["called_tool"], record["execution"]["usage"]["output_tokens"]) == ("http_get", 0)
    receipts = await journey.client.get_receipts(about["execution_id"])
    assert [entry["kind"] for entry in receipts["entries"]] == ["opened", "replied", "planned", "settled", "closed"]
    verify_receipts.verify(receipts)
    assert verify_receipts.compare(receipts, json.loads(json.dumps(record))) == ([], [])
    read = bundle.read_bundle(bundle.write_bundle(record))
    assert bundle.find_differences(read, await run_replay(read.record)) == []


async def test_the_command_line_says_why_a_call_went_where_and_replays_it(
    journey: Journey, mcp: McpClient, stack: Mapping[str, Any], key: str
) -> None:
    await journey.serve(HOST)
    await set_chat_task(journey, tools=["http_get"], integrations=["coingecko"])
    result = await mcp.call("http_get", {"url": journey.url(HOST)})
    execution = result["structuredContent"]["execution_id"]
    ferryman, access = Shell(stack), {"FERRYMAN_URL": stack["url"], "FERRYMAN_KEY": key}
    same = await ferryman("replay", execution, **access)
    assert (same.code, "the same to the byte: 1 turn, 1 call, completed" in same.out) == (0, True), same.out + same.err
    why = await ferryman("why", execution, "1", **access)
    assert (why.code, "http_get" in why.out) == (0, True), why.out + why.err


async def test_a_credential_in_the_arguments_reaches_nobody(journey: Journey, mcp: McpClient) -> None:
    await journey.serve(HOST)
    task = await set_chat_task(journey, tools=["http_get"], integrations=["coingecko"])
    secret = f"sk-{token_urlsafe(30)}"
    await journey.client.set_credential(task, "KEY", {"value": secret, "service": "coingecko"})
    result = await mcp.call("http_get", {"url": f"{journey.url(HOST)}?q={secret}"})
    assert (result["isError"], await journey.received(HOST)) == (True, [])
    record = await journey.client.get_record(result["structuredContent"]["execution_id"])
    assert secret not in json.dumps([result, record])


async def test_a_task_survives_the_death_of_everything_and_another_client_picks_it_up(
    journey: Journey, stack: Mapping[str, Any], key: str
) -> None:
    """The client starts it and is gone; the api and the orchestrator die; a member's client has its result."""
    await journey.serve(HOST, delay_s=3.0)
    get = call("http_get", url=journey.url(HOST))
    task = await journey.task(asks(get), says("Done."), tools=["http_get"], integrations=["coingecko"])
    async with McpClient(stack["url"], key, capabilities=TASKS) as client:
        created = await client.call("run_task", {"task_id": task})
        assert created["resultType"] == "task"
        await await_request(journey)
    other = (await journey.client.create_key("another client"))["key"]
    await journey.admin.kill("orchestrator")
    await journey.admin.kill("api")
    async with McpClient(stack["url"], str(other), capabilities=TASKS) as client:
        polled = await poll(client, created["taskId"])
    assert (polled["status"], polled["result"]["content"][0]["text"]) == ("completed", "Done.")
    assert len(await journey.received(HOST)) == 1


async def await_request(journey: Journey) -> None:
    """Wait until the host has received a request."""
    while True:
        if await journey.received(HOST):
            return
        await asyncio.sleep(0.05)


async def await_answer(ask: Callable[[], Awaitable[Any]]) -> Any:
    """Return what the api answers once it has been started again."""
    while True:
        try:
            return await ask()
        except (ApiUnreachableError, httpx.TransportError):
            await asyncio.sleep(0.1)


async def poll(client: McpClient, task: str) -> dict[str, Any]:
    """Return a task once nothing more becomes of it by itself."""
    while True:
        with suppress(httpx.TransportError):  # the api is being started again
            polled = await client.ask("tasks/get", {"taskId": task})
            if polled["status"] != "working":
                return polled
        await asyncio.sleep(0.2)


async def test_a_call_that_waits_is_approved_at_the_linked_page_alone(
    journey: Journey, stack: Mapping[str, Any], key: str
) -> None:
    await journey.serve(HOST)
    await set_chat_task(journey, tools=["http_post"], integrations=["coingecko"])
    arguments = {"url": journey.url(HOST), "body": {"amount": 100}}
    async with McpClient(stack["url"], key, capabilities=PAGES) as client:
        waiting = await client.call("http_post", arguments)
        ((approval, asking),) = waiting["inputRequests"].items()
        accepted = {approval: {"action": "accept", "content": {"verdict": "approve"}}}
        again = await client.call("http_post", arguments, requestState=waiting["requestState"], inputResponses=accepted)
        assert (list(again["inputRequests"]), await journey.received(HOST)) == ([approval], [])
        assert asking["params"]["url"].endswith(f"/console/approvals/{approval}")
        await journey.admin.kill("api")  # another instance knows as much
        question = await await_answer(lambda: journey.client.get_approval(approval))
        await journey.client.decide_approval(approval, "approve", question["digest"])
        result = await client.call("http_post", arguments, requestState=again["requestState"])
    assert (result["resultType"], result["isError"]) == ("complete", False)
    assert [json.loads(request["body"]) for request in await journey.received(HOST)] == [{"amount": 100}]


async def test_a_conversation_is_gone_on_with_by_a_person_and_what_the_client_wrote_is_untrusted(
    journey: Journey, mcp: McpClient
) -> None:
    await journey.admin.set_script(journey.name, {"steps": [says("In Harwich."), says("At nine.")]})
    await set_chat_task(journey, model=f"scripted/{journey.name}")
    answer = await mcp.call("ask_agent", {"message": "Where is the ferry?"})
    about = answer["structuredContent"]
    assert answer["content"][0]["text"] == "In Harwich."
    second = await journey.client.create_message(about["conversation_id"], "When?")
    assert second["assistantMessage"]["content"] == "At nine."
    record = await journey.client.get_record(about["execution_id"])
    assert (record["opening"]["is_prompt_foreign"], record["opening"]["label"]["integrity"]) == (True, "untrusted")


async def test_a_subscription_tells_when_a_task_has_ended(journey: Journey, stack: Mapping[str, Any], key: str) -> None:
    await journey.serve(HOST, delay_s=3.0)
    await set_chat_task(journey, tools=["http_get"], integrations=["coingecko"])
    async with McpClient(stack["url"], key, capabilities=TASKS) as client:
        created = await client.call("http_get", {"url": journey.url(HOST)})
        async with client.listen(taskIds=[created["taskId"]]) as messages:
            async for message in messages:
                if message.get("params", {}).get("status") == "completed":
                    break
        assert message["params"]["result"]["structuredContent"]["ok"] is True
