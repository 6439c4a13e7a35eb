"""People through the whole stack: invited, at work, watched, removed; and what becomes of what they had under way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from ferryman.client import ApiRefusedError, AsyncClient
from ferryman.stack.admin import Admin
from tests.journeys.conftest import NewKey, asks, call, says

CALL_S = 8
ENDS_S = 60
"""How long an execution may take to end once it was cancelled, its call under way included, on a busy machine."""


@pytest.fixture
async def owner(stack: Mapping[str, Any], new_key: NewKey) -> AsyncIterator[AsyncClient]:
    async with AsyncClient(stack["url"], await new_key("pro"), workspace="") as client:
        yield client


@pytest.fixture
async def bea(stack: Mapping[str, Any], owner: AsyncClient) -> AsyncIterator[AsyncClient]:
    """Somebody who was invited as an operator, and has joined without an API key."""
    token = (await owner.create_invitation("Bea", "operator"))["token"]
    assert token is not None
    async with AsyncClient(stack["url"], "", workspace="") as nobody:
        joined = await nobody.join_workspace(token)
        with pytest.raises(ApiRefusedError) as refused:
            await nobody.join_workspace(token)
        assert refused.value.status == 404
    async with AsyncClient(stack["url"], joined["key"], workspace="") as client:
        yield client


@pytest.fixture
async def waiting(admin: Admin, owner: AsyncClient, bea: AsyncClient) -> str:
    """An execution of Bea's whose call takes a while to be answered."""
    name = (await bea.get_me())["person_id"]
    await admin.serve_routes("api.github.com", [{"method": "GET", "path": f"/{name}", "delay_s": CALL_S, "json": {}}])
    url = f"https://api.github.com/{name}"
    await admin.set_script(name, {"steps": [asks(call("http_get", url=url)), says("Done.")]})
    task = {
        "name": "wait",
        "task_prompt": "Wait.",
        "tools": ["http_get"],
        "integrations": ["github"],
        "model": f"scripted/{name}",
    }
    task_id = (await owner.create_task(task))["task_id"]
    execution = (await bea.start_execution(task_id))["execution_id"]
    async for event in bea.stream_events(execution):
        if event.kind == "tool_call":
            return execution
    raise AssertionError("the execution ended by itself")


async def watch(client: AsyncClient, execution: str) -> None:
    """Watch until the service refuses to have it watched any longer."""
    with pytest.raises(ApiRefusedError) as refused:
        async for _ in client.stream_events(execution):
            pass
    assert refused.value.status == 401


async def test_who_is_removed_watches_nothing_any_longer_and_what_they_started_ends(
    owner: AsyncClient, bea: AsyncClient, waiting: str
) -> None:
    me = await bea.get_me()
    assert (me["role"], me["rights"]) == ("operator", ["read", "run"])
    watching = asyncio.create_task(watch(bea, waiting))
    await asyncio.sleep(0)
    await owner.delete_member(me["person_id"], executions="end")
    await watching
    with pytest.raises(ApiRefusedError) as refused:
        await bea.list_tasks()
    assert refused.value.status == 401
    async with asyncio.timeout(ENDS_S):
        async for _ in owner.stream_events(waiting):
            pass
    assert (await owner.get_execution(waiting))["status"] == "killed"


async def test_an_operator_changes_nothing_and_the_history_says_who_did(owner: AsyncClient, bea: AsyncClient) -> None:
    with pytest.raises(ApiRefusedError) as refused:
        await bea.create_task({"name": "x", "task_prompt": "x", "model": "scripted/hello"})
    assert (refused.value.status, "your role operator" in refused.value.detail) == (403, True)
    entries = await owner.list_audit_entries()
    joined = entries[0]["targets"][1]
    assert [(entry["action"], entry["person_id"], entry["done"]) for entry in entries] == [
        ("joinWorkspace", joined, True),
        ("createInvitation", "", True),
    ]
