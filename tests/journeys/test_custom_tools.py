"""Custom tools through the whole stack: declared, imported, changed and deleted; the wire has what their owner wrote."""

from __future__ import annotations

import json
from typing import Any

import httpx

from tests.journeys.conftest import KEY, Journey, asks, call, says

HOST, NAME = "lunarcrush.com", "LUNARCRUSH_API_KEY"
PUBLIC = "api.coingecko.com"
AGENT = ["import_openapi_tools", "call_custom_tool", "delete_tool_cluster"]
SECRET = f"{{{{secrets.{NAME}}}}}"


def entry(journey: Journey, **fields: Any) -> dict[str, Any]:
    """Return a declared tool of this journey's own path, with the key in a header of its own."""
    return {
        "kind": "http",
        "name": "look",
        "description": "Looks at an item.",
        "url": journey.url(HOST) + "{?id}",
        "headers": {"X-Desk-Key": SECRET},
        **fields,
    }


async def declared(journey: Journey, tool: dict[str, Any], *steps: Any, **fields: Any) -> str:
    """Return a task with this tool, and the key stored."""
    task = await journey.task(
        *steps, tools=[tool, *fields.pop("tools", ())], integrations=["lunarcrush", "coingecko"], **fields
    )
    await journey.credential(task, NAME, "lunarcrush")
    return task


async def list_prompts(journey: Journey) -> list[dict[str, Any]]:
    """Return the prompts of this journey."""
    requests = await journey.admin.list_model_requests()
    return [request["body"] for request in requests if request["script"] == journey.name]


async def api(journey: Journey, method: str, path: str, body: Any) -> Any:
    """Call the API as the journey's owner; return its answer."""
    async with httpx.AsyncClient(base_url=journey.client.url, trust_env=False, timeout=30) as http:
        answer = await http.request(method, path, json=body, headers=journey.client._http.headers)
    assert answer.is_success, answer.text
    return answer.json()


def document(journey: Journey, operations: int = 1, **operation: Any) -> str:
    """Return an OpenAPI document whose operations are all on this journey's path."""
    paths = {
        journey.path + (f"/{number}" if number else ""): {
            "get": {"operationId": f"item_{number}", "summary": f"Reads item {number}.", "responses": {}, **operation}
        }
        for number in range(operations)
    }
    return json.dumps(
        {
            "openapi": "3.1.0",
            "info": {"title": "Desk", "version": "1"},
            "servers": [{"url": f"https://{HOST}"}],
            "paths": paths,
        }
    )


async def test_a_declared_tool_is_called_with_its_secret_and_no_record_shows_it(journey: Journey) -> None:
    await journey.serve(HOST)
    task = await declared(journey, entry(journey), asks(call("look", id="a&b=c")), says("Done.", expect=('"ok"',)))
    record = await journey.run(task)
    assert await journey.problems() == []
    (request,) = await journey.received(HOST)
    assert ["x-desk-key", KEY] in [[name.lower(), value] for name, value in request["headers"]]
    assert request["query"] == "id=a%26b%3Dc"
    assert KEY not in json.dumps(record)
    (row,) = record["tool_calls"]
    assert (row["tool"], row["credential_used"], row["response_status"], row["blocked"]) == ("look", NAME, 200, False)


async def test_a_body_is_written_from_its_template(journey: Journey) -> None:
    await journey.serve(HOST)
    body = {"title": "{{title}}", "count": "{{count}}", "by": "{{task_name}}: {{title}}", "tags": ["new"]}
    parameters = {"count": {"type": "integer"}}
    tool = entry(journey, method="POST", url=journey.url(HOST), body=body, parameters=parameters)
    step = asks(call("look", title='say "hi"', count=3))
    await journey.run(await declared(journey, tool, step, says("Done.", expect=('"ok"',))))
    assert await journey.problems() == []
    (request,) = await journey.received(HOST)
    sent = {"title": 'say "hi"', "count": 3, "by": f'{journey.name}: say "hi"', "tags": ["new"]}
    assert json.loads(request["body"]) == sent


async def test_an_answer_that_is_not_2xx_is_an_error(journey: Journey) -> None:
    await journey.serve(HOST, status=404, json={"message": "no such item"})
    task = await declared(
        journey, entry(journey), asks(call("look", id="1")), says("Done.", expect=("Error: HTTP 404", "no such item"))
    )
    record = await journey.run(task)
    assert await journey.problems() == []
    assert record["tool_calls"][0]["response_status"] == 404


async def test_an_imported_tool_is_called_in_the_same_execution(journey: Journey) -> None:
    await journey.serve(HOST)
    await journey.serve(PUBLIC, body=document(journey))
    steps = (
        asks(call("import_openapi_tools", url=journey.url(PUBLIC))),
        asks(call("call_custom_tool", toolName="item_0"), expect=("Desk", "item_0")),
        says("Done.", expect=('"ok"',)),
    )
    task = await journey.task(*steps, tools=AGENT, integrations=["lunarcrush", "coingecko"])
    record = await journey.run(task)
    assert await journey.problems() == []
    assert len(await journey.received(HOST)) == 1
    assert [row["blocked"] for row in record["tool_calls"]] == [False, False]


async def test_a_deleted_cluster_is_gone_for_the_next_call(journey: Journey) -> None:
    await journey.serve(HOST)
    await journey.serve(PUBLIC, body=document(journey))
    steps = (
        asks(call("import_openapi_tools", url=journey.url(PUBLIC), cluster="mine")),
        asks(call("delete_tool_cluster", cluster="mine"), expect=("mine",)),
        asks(call("call_custom_tool", toolName="item_0"), expect=("deleted",)),
        says("Done.", expect=("Error: unknown tool 'item_0'",)),
    )
    task = await journey.task(*steps, tools=AGENT, integrations=["lunarcrush", "coingecko"])
    await journey.run(task)
    assert await journey.problems() == []
    assert await journey.received(HOST) == []


async def test_a_tool_that_changed_since_the_execution_began_is_not_called(journey: Journey) -> None:
    await journey.serve(HOST)
    # what the first call answers takes as long as the change takes
    await journey.serve(PUBLIC, delay_s=2)
    task = await declared(
        journey,
        entry(journey),
        asks(call("http_get", url=journey.url(PUBLIC))),
        asks(call("look", id="1")),
        says("Done.", expect=("Error: ", "look")),
        tools=["http_get"],
    )
    execution = (await journey.client.start_execution(task))["execution_id"]
    async for event in journey.client.stream_events(execution):
        if event.kind == "tool_call":
            changed = entry(journey, url=journey.url(HOST) + "?admin=1")
            await journey.client.change_task(task, {"tools": ["http_get", changed]})
            break
    record = await journey.await_end(execution)
    assert await journey.problems() == []
    assert await journey.received(HOST) == []
    assert record["tool_calls"][-1]["block_reason"] == "tool_changed"


async def test_hundreds_of_operations_are_shown_by_name_where_they_do_not_fit(journey: Journey) -> None:
    await journey.serve(HOST)
    path = f"{journey.path}/399"
    await journey.admin.serve_routes(HOST, [{"method": "*", "path": path, "json": {"ok": True}}])
    task = await journey.task(
        asks(call("call_custom_tool", toolName="item_399")),
        says("Done.", expect=('"ok"',)),
        tools=AGENT,
        integrations=["lunarcrush"],
    )
    words = "What it is for, at length. " * 30
    spec = json.loads(document(journey, 400, description=words))
    answer = await api(journey, "POST", f"/v1/tasks/{task}/tools/import-openapi", {"spec": spec})
    assert (answer["imported"], answer["disabled"]) == (400, 0)
    record = await journey.run(task)
    assert await journey.problems() == []
    assert not record["tool_calls"][0]["blocked"]
    tools = (await list_prompts(journey))[0]["tools"]
    assert sorted(tool["name"] for tool in tools) == sorted(AGENT)
    (caller,) = (tool for tool in tools if tool["name"] == "call_custom_tool")
    assert "Desk: item_0, item_1, item_2," in caller["description"]
    assert "item_399" in caller["description"]


async def test_a_few_imported_operations_are_shown_whole(journey: Journey) -> None:
    task = await journey.task(says("Done."), tools=[], integrations=["lunarcrush"])
    await api(journey, "POST", f"/v1/tasks/{task}/tools/import-openapi", {"spec": json.loads(document(journey, 40))})
    await journey.run(task)
    tools = (await list_prompts(journey))[0]["tools"]
    assert len(tools) == 40
    assert tools[0]["description"].startswith("Reads item")
