"""Requests of both eras: list and call, on one endpoint."""

from __future__ import annotations

from dataclasses import replace

from ferryman.domain.mcp_revisions import SERVER_INFO
from ferryman.serving.mcp import Complete, McpExchange, Result

from .client import Client
from .servers import Stage


async def test_a_list_says_how_long_it_is_fresh_and_who_answered(client: Client) -> None:
    result = (await client.call("tools/list")).result
    assert [tool["name"] for tool in result["tools"]] == ["approve", "echo", "fail", "report"]
    assert (result["resultType"], result["ttlMs"], result["cacheScope"]) == ("complete", 60_000, "private")
    assert result["_meta"][SERVER_INFO] == {"name": "stage", "version": "1"}


async def test_a_call_is_answered_with_one_json_object(client: Client) -> None:
    answer = await client.call("tools/call", {"name": "echo", "arguments": {"text": "hi"}})
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    assert answer.result["content"] == [{"type": "text", "text": "hi"}]
    assert "ttlMs" not in answer.result


async def test_discovery_tells_revisions_and_capabilities(client: Client, stage: Stage) -> None:
    result = (await client.call("server/discover")).result
    assert result["supportedVersions"][:2] == ["2026-07-28", "2025-11-25"]
    assert result["capabilities"] == stage.server.capabilities


async def test_a_client_of_2025_initializes_lists_and_calls(client: Client) -> None:
    result = (await client.initialize()).result
    assert (result["protocolVersion"], result["capabilities"]) == ("2025-11-25", {"tools": {}})
    assert (await client.notify_old("notifications/initialized")).status == 202
    assert (await client.call_old("ping")).result == {}
    assert "resultType" not in (await client.call_old("tools/list")).result
    answer = await client.call_old("tools/call", {"name": "echo", "arguments": {"text": "hi"}})
    assert answer.result == {"content": [{"type": "text", "text": "hi"}]}


async def test_progress_makes_the_answer_a_stream_that_only_increases(client: Client) -> None:
    answer = await client.call("tools/call", {"name": "report", "_meta": {"progressToken": "p"}})
    assert answer.is_stream
    assert [message["params"]["progress"] for message in answer.messages[:-1]] == [1, 2]
    assert answer.result["content"][0]["text"] == "reported"


async def test_a_client_that_takes_no_stream_gets_the_result_alone(client: Client) -> None:
    answer = await client.call("tools/call", {"name": "report", "_meta": {"progressToken": "p"}}, accept="application/json")
    assert len(answer.messages) == 1
    assert answer.result["content"][0]["text"] == "reported"


async def test_a_client_of_2026_that_leaves_cancels_its_request(client: Client, stage: Stage) -> None:
    posting = client.begin("tools/call", {"name": "wait"})
    await stage.waiting.wait()
    await posting.leave()
    assert stage.ended == ["cancelled"]


async def test_a_client_of_2026_that_closes_its_stream_cancels_its_request() -> None:
    slow = Stage(stream_after_s=0.0)
    posting = Client(slow.server).begin("tools/call", {"name": "wait"})
    await posting.wait_for_start()
    assert posting.answer.is_stream
    await posting.leave()
    assert slow.ended == ["cancelled"]


async def test_a_client_of_2025_that_leaves_cancels_nothing(client: Client, stage: Stage) -> None:
    await client.initialize()
    posting = client.begin_old("tools/call", {"name": "wait"})
    await stage.waiting.wait()
    await posting.leave()
    (task,) = stage.server.running.values()
    stage.go_on.set()
    await task
    assert stage.ended == ["done"]


async def test_an_id_that_is_used_again_names_the_later_request(client: Client, stage: Stage) -> None:
    await client.initialize()
    first = client.begin_old("tools/call", {"name": "wait"}, name="call")
    await stage.waiting.wait()
    (begun,) = stage.server.running.values()
    stage.waiting.clear()
    second = client.begin_old("tools/call", {"name": "wait"}, name="call")
    await stage.waiting.wait()
    begun.cancel()
    await first.finish()
    assert len(stage.server.running) == 1
    stage.go_on.set()
    await second.finish()


async def test_a_client_of_2025_cancels_by_name(client: Client, stage: Stage) -> None:
    await client.initialize()
    posting = client.begin_old("tools/call", {"name": "wait"}, name="call")
    await stage.waiting.wait()
    assert (await client.notify_old("notifications/cancelled", {"requestId": "call"})).status == 202
    assert (await posting.finish()).messages == []
    assert stage.ended == ["cancelled"]


async def test_what_takes_long_becomes_a_stream() -> None:
    slow = Stage(stream_after_s=0.0)
    posting = Client(slow.server).begin("tools/call", {"name": "wait"})
    await slow.waiting.wait()
    await posting.wait_for_start()
    slow.go_on.set()
    answer = await posting.finish()
    assert answer.is_stream
    assert answer.body.startswith(b":")
    assert answer.result["content"][0]["text"] == "waited"


async def test_what_goes_on_without_its_client_is_not_held_up_by_what_it_reports(client: Client, stage: Stage) -> None:
    async def report(exchange: McpExchange) -> Result:
        await exchange.report_progress(0)
        await stage.go_on.wait()
        for step in range(1, 100):
            await exchange.report_progress(step)
        stage.ended.append("done")
        return Complete()

    client.server = replace(client.server, methods={"x": report})
    await client.initialize()
    posting = client.begin_old("x", {"_meta": {"progressToken": 1}})
    await posting.wait_for(1)
    await posting.leave()
    (task,) = client.server.running.values()
    stage.go_on.set()
    await task
    assert stage.ended == ["done"]
