"""Two workspaces of one owner through the whole stack: what is in one is nowhere in the other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import pytest

from ferryman import verify_deletion
from ferryman.client import ApiNotFoundError, AsyncClient
from ferryman.stack.admin import Admin
from tests.journeys.conftest import KEY, NewKey, asks, call, says


@dataclass(frozen=True, kw_only=True)
class Room:
    """A workspace with a task that was run in it, as its owner sees them."""

    client: AsyncClient
    workspace: str
    task: str
    execution: dict[str, Any]


@pytest.fixture
async def rooms(stack: Mapping[str, Any], admin: Admin, new_key: NewKey) -> AsyncIterator[list[Room]]:
    """Two workspaces of a new owner; the task of each reads a path of its own."""
    key = await new_key("pro")
    async with AsyncExitStack() as opened:
        owner = await opened.enter_async_context(AsyncClient(stack["url"], key, workspace=""))
        rooms = []
        for name in ("north", "south"):
            workspace = (await owner.create_workspace({"name": name}))["workspace_id"]
            client = await opened.enter_async_context(AsyncClient(stack["url"], key, workspace=workspace))
            rooms.append(await furnish(client, admin, workspace))
        yield rooms


async def furnish(client: AsyncClient, admin: Admin, workspace: str) -> Room:
    """Run a task in a workspace, and return all of it."""
    await admin.serve_routes("api.github.com", [{"method": "GET", "path": f"/{workspace}", "json": {"only_in": workspace}}])
    url = f"https://api.github.com/{workspace}"
    steps = [asks(call("api_call", method="GET", url=url, credential="GITHUB_KEY")), says("Read.", expect=(workspace,))]
    await admin.set_script(workspace, {"steps": steps})
    task = {"name": "read", "task_prompt": "Read.", "tools": ["api_call"], "integrations": ["github"]}
    task_id = (await client.create_task({**task, "model": f"scripted/{workspace}"}))["task_id"]
    await client.set_credential(task_id, "GITHUB_KEY", {"value": KEY, "service": "github"})
    return Room(client=client, workspace=workspace, task=task_id, execution=dict(await client.run_task(task_id)))


async def test_a_task_runs_in_each_workspace(rooms: list[Room]) -> None:
    assert [(room.execution["status"], room.execution["output"]) for room in rooms] == [("completed", "Read.")] * 2


async def test_the_lists_of_a_workspace_show_what_is_in_it_and_nothing_else(rooms: list[Room]) -> None:
    for room in rooms:
        assert [task["task_id"] for task in await room.client.list_tasks()] == [room.task]
        executions = await room.client.list_executions()
        assert [execution["execution_id"] for execution in executions] == [room.execution["execution_id"]]


async def test_what_is_in_another_workspace_is_refused_as_what_does_not_exist(rooms: list[Room]) -> None:
    here, there = rooms
    execution = str(there.execution["execution_id"])
    ways = [
        (here.client.get_task, there.task),
        (here.client.delete_task, there.task),
        (here.client.start_execution, there.task),
        (here.client.list_credentials, there.task),
        (here.client.list_custom_tools, there.task),
        (here.client.get_execution, execution),
        (here.client.list_calls, execution),
        (here.client.list_receipts, execution),
        (here.client.get_record, execution),
        (here.client.cancel_execution, execution),
    ]
    for method, name in ways:
        answers = []
        for tried in (name, f"{name[:-4]}0000"):
            with pytest.raises(ApiNotFoundError) as refused:
                await method(tried)
            answers.append((refused.value.status, refused.value.detail, refused.value.errors))
        assert answers[0] == answers[1], method.__name__
    assert (await there.client.get_task(there.task))["enabled"]


async def delete(client: AsyncClient, workspace: str) -> dict[str, Any]:
    """Delete a workspace; return the document of the deletion's receipt."""
    job = await client.delete_workspace(workspace)
    async with asyncio.timeout(60):
        while (job := await client.get_job(job["job_id"]))["status"] != "done":  # noqa: ASYNC110 - the service's
            await asyncio.sleep(0.05)
    return await client.get_deletion_receipt(job["job_id"])


async def test_a_deletion_leaves_a_genuine_receipt_that_counts_what_there_was(rooms: list[Room]) -> None:
    here, there = rooms
    document = await delete(here.client, there.workspace)
    assert verify_deletion.find_fault(document, await here.client.list_receipt_keys()) is None
    counts = document["receipt"]["counts"]
    assert (document["receipt"]["subject"], document["receipt"]["person"]) == (there.workspace, "")
    assert {name: counts[name] for name in ("workspaces", "tasks", "credentials", "executions", "calls")} == dict.fromkeys(
        ("workspaces", "tasks", "credentials", "executions", "calls"), 1
    )


async def test_a_deleted_workspace_is_gone_and_the_other_one_is_as_it_was(rooms: list[Room]) -> None:
    here, there = rooms
    await delete(here.client, there.workspace)
    for method, name in ((there.client.get_task, there.task), (here.client.get_workspace, there.workspace)):
        with pytest.raises(ApiNotFoundError):
            await method(name)
    assert (await here.client.run_task(here.task))["status"] == "completed"


async def test_what_a_deleted_workspace_has_cost_stays_in_the_ledger(rooms: list[Room]) -> None:
    here, there = rooms
    before = await here.client.get_ledger(by="workspace")
    assert {line["id"] for line in before["lines"]} >= {here.workspace, there.workspace}
    await delete(here.client, there.workspace)
    assert await here.client.get_ledger(by="workspace") == before


async def test_what_waits_in_a_workspace_does_not_keep_it_from_being_deleted(admin: Admin, rooms: list[Room]) -> None:
    here, there = rooms
    await admin.set_script(f"{there.workspace}-waits", {"steps": [asks(call("wait_until", seconds=900)), says("Never.")]})
    task = {"name": "wait", "task_prompt": "Wait.", "tools": ["wait_until"], "model": f"scripted/{there.workspace}-waits"}
    task_id = (await there.client.create_task(task))["task_id"]
    async for event in there.client.stream_events((await there.client.start_execution(task_id))["execution_id"]):
        if event.kind == "tool_call":
            break
    counts = (await delete(here.client, there.workspace))["receipt"]["counts"]
    assert {name: counts[name] for name in ("tasks", "executions")} == {"tasks": 2, "executions": 2}
