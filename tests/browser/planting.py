"""Hostile strings from those who can write them: members through the API, a model by its script, upstreams by answers."""

from __future__ import annotations

import json
from typing import Any

from ferryman.client import ApiRefusedError
from tests.browser.hostile_strings import SHORT
from tests.journeys.conftest import Journey, asks, call, says

HOST = "api.coingecko.com"
ALL = "\n".join(SHORT)
TITLES = tuple(text.replace("\n", " ")[:90] for text in SHORT[::40])
"""Names are short: every fortieth string, so that each kind is there."""


async def write_texts(journey: Journey) -> list[str]:
    """Return the pages that show what was planted."""
    await journey.serve(HOST, body=ALL)
    client, pages = (
        journey.client,
        ["/console", "/console/executions", "/console/tasks", "/console/people", "/console/approvals"],
    )
    pages += ["/console/conversations", "/console/files", "/console/ledger", "/console/workspaces", "/console/agents"]
    for title in TITLES:
        await _write(client.create_task, {"name": title, "description": title, "task_prompt": title, "model": "scripted/x"})
        await _write(client.create_agent, {"name": title, "system_prompt": title, "description": title})
        await _write(client.create_workspace, {"name": title})
        await _write(client.create_conversation, title=title)
        await _write(client.put_file, f"reports/{title}.md", title.encode(), content_type="text/html")
        await _write(client.create_invitation, title, "member")
        await _write(client.create_key, title, scopes=["read"])
    pages += await _run(journey)
    pages += await _ask(journey)
    pages += await _talk(journey)
    return [*pages, *await _add_server(journey)]


async def _write(create: Any, *args: Any, **options: Any) -> Any:
    """Return what was created; where a field refuses a text, nothing is there to be shown."""
    try:
        return await create(*args, **options)
    except (ApiRefusedError, ValueError):
        return None


async def _run(journey: Journey) -> list[str]:
    """Run an execution whose model and upstream are hostile."""
    quoted = {"q": ALL[:1_000]}
    task = await journey.task(
        {**asks(call("http_get", url=journey.url(HOST), query_params=quoted)), "text": ALL[16_000:19_000]},
        asks(
            call("http_get", url=f"https://nowhere.example/{SHORT[7]}"),
            call("file_write", key="hostile.html", content=ALL[19_000:20_000]),
        ),
        asks(call("import_openapi_tools", content=write_document())),
        says(ALL),
        tools=["http_get", "file_write", "import_openapi_tools"],
        integrations=["coingecko"],
        max_credits="400",
        task_prompt=_cut_controls(ALL[:3_000]),
        system_prompt=_cut_controls(ALL[6_000:9_000]),
    )
    labels = {"about": _cut_controls(SHORT[3])}
    started = await journey.client.start_execution(task, _cut_controls(ALL[12_000:16_000]), labels=labels)
    execution = started["execution_id"]
    record = await journey.await_end(execution)
    assert record["status"] == "completed", record["error"]
    page = f"/console/executions/{execution}"
    calls = [f"{page}/calls/{number}" for number in range(len(record["tool_calls"]))]
    return [page, f"{page}/audit", *calls, f"/console/tasks/{task}", f"/console/tasks/{task}/tools"]


async def _ask(journey: Journey) -> list[str]:
    """Leave a call waiting for a person, with a hostile body."""
    post = call("http_post", url=journey.url(HOST), body={"text": ALL[:9_000], "=1+1": SHORT[0]})
    rules = [{"mode": "always", "tools": ["http_post"]}]
    fields = {"tools": ["http_post"], "integrations": ["coingecko"], "approvals": rules}
    task = await journey.task(asks(post), says("Done."), **fields)
    execution = (await journey.client.start_execution(task))["execution_id"]
    async for event in journey.client.stream_events(execution):
        if event.kind == "waiting":
            return [f"/console/approvals/{event.body['approval']}", f"/console/executions/{execution}"]
    raise AssertionError("nothing waits")


async def _talk(journey: Journey) -> list[str]:
    name = f"{journey.name}-chat"
    await journey.admin.set_script(name, {"steps": [says(ALL)]})
    conversation = (await journey.client.create_conversation(title=TITLES[0]))["conversation_id"]
    await journey.client.create_message(conversation, _cut_controls(ALL[:20_000]), model=f"scripted/{name}")
    page = f"/console/conversations/{conversation}"
    return [page, f"{page}/messages/1", f"{page}/messages/2"]


async def _add_server(journey: Journey) -> list[str]:
    """Add an MCP server that says hostile things of itself, and changes what it says."""
    agent = str((await journey.client.create_agent({"name": "Librarian", "allowed_tools": []}))["agent_id"])
    host = f"{journey.name}.example.com"
    described = {"echo": {"description": ALL[:8_000], "title": SHORT[1]}}
    await journey.admin.serve_mcp(host, {"instructions": ALL[:8_000], "changed": described})
    server = await journey.client.create_mcp_server(agent, {"name": "books", "url": f"https://{host}/mcp"})
    tools = [tool async for tool in journey.client.iterate_mcp_tools(agent, server["server_id"])]
    await journey.client.accept_mcp_tools(
        agent, server["server_id"], {str(t["config"]["tool_name"]): str(t["digest"]) for t in tools}
    )
    await journey.admin.change_mcp(host, {"changed": {"echo": {"description": ALL[8_000:16_000], "title": SHORT[2]}}})
    await journey.client.refresh_mcp_server(agent, server["server_id"])
    return [f"/console/agents/{agent}", f"/console/agents/{agent}/servers/{server['server_id']}"]


def write_document() -> str:
    """Return an OpenAPI document whose texts are hostile."""
    operation = {"operationId": "item", "summary": SHORT[4], "description": ALL[:3_000], "responses": {}}
    document = {"openapi": "3.1.0", "info": {"title": SHORT[5], "version": "1"}, "servers": [{"url": f"https://{HOST}"}]}
    return json.dumps({**document, "paths": {"/item": {"get": operation}}})


def _cut_controls(text: str) -> str:
    """Take out what the API refuses in texts of members: control characters."""
    return "".join(character for character in text if character.isprintable() or character == "\n")
