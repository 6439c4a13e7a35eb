"""Audit: every change leaves an entry of who made it and of what, with no value in it; what was refused leaves none."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import httpx
import pytest

from ferryman.domain.workspaces.member import Role
from ferryman.inmemory.audit import MemoryAuditEntries
from ferryman.ports.errors import UnavailableError

from .conftest import TASK, Stage, create_app
from .dying import DeathError
from .routes import CREDENTIAL, VALUE


async def list_entries(client: httpx.AsyncClient, **headers: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = (await client.get("/v1/audit-entries", headers=headers)).json()["entries"]
    return entries


async def test_a_change_names_who_made_it_with_what_and_of_what(client: httpx.AsyncClient, stage: Stage) -> None:
    headers = stage.member(Role.ADMIN)
    me = (await client.get("/v1/me", headers=headers)).json()
    task = (await client.post("/v1/tasks", json=TASK, headers=headers)).json()["task_id"]
    (entry,) = await list_entries(client)
    assert (entry["person_id"], entry["key_id"]) == (me["person_id"], me["key_id"])
    assert (entry["action"], entry["targets"], entry["done"]) == ("createTask", [task], True)


async def test_changes_are_told_newest_first(client: httpx.AsyncClient, stage: Stage, task: str) -> None:
    stage.clock.turn(1)
    stored = await client.put(f"/v1/tasks/{task}/credentials/GITHUB_TOKEN", json=CREDENTIAL)
    assert stored.status_code == 200, stored.text
    entries = await list_entries(client)
    assert [(entry["action"], entry["targets"]) for entry in entries] == [
        ("putCredential", [task, "GITHUB_TOKEN"]),
        ("createTask", [task]),
    ]
    assert VALUE not in repr(stage.memory.audit)


async def test_what_is_read_or_run_or_refused_leaves_no_entry(client: httpx.AsyncClient, stage: Stage, task: str) -> None:
    before = dict(stage.memory.audit)
    await client.get("/v1/tasks")
    await client.post(f"/v1/tasks/{task}/executions")
    for body in ({}, {**TASK, "tools": ["no_such_tool"]}):
        assert (await client.post("/v1/tasks", json=body)).status_code == 422
    assert (await client.delete("/v1/tasks/task_none")).status_code == 404
    assert (await client.post("/v1/tasks", json=TASK, headers=stage.member(Role.VIEWER))).status_code == 403
    assert stage.memory.audit == before


async def test_a_retry_leaves_no_second_entry(client: httpx.AsyncClient, stage: Stage) -> None:
    for _ in range(2):
        await client.post("/v1/tasks", json=TASK, headers={"Idempotency-Key": '"once"'})
    assert len(stage.memory.audit) == 1


async def test_entries_of_another_workspace_are_not_told(client: httpx.AsyncClient, task: str) -> None:
    assert task
    assert await list_entries(client, **{"Ferryman-Workspace": "ws_ann"}) == []


async def test_no_change_is_made_without_an_entry(stage: Stage) -> None:
    class Unavailable(MemoryAuditEntries):
        async def add(self, entry: Any) -> None:
            raise UnavailableError("no store")

    app = create_app(replace(stage.deps(), audit=Unavailable(stage.memory)))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://api.test") as client:
        answer = await client.post("/v1/tasks", json=TASK, headers=stage.owner("ann"))
    assert (answer.status_code, stage.memory.tasks) == (503, {})


@pytest.mark.parametrize("error", [UnavailableError, DeathError])
async def test_an_entry_that_could_not_be_ended_says_that_nobody_knows(stage: Stage, error: type[BaseException]) -> None:
    class Unavailable(MemoryAuditEntries):
        async def end(self, entry: Any) -> None:
            raise error

    app = create_app(replace(stage.deps(), audit=Unavailable(stage.memory)))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://api.test") as client:
        with suppress(DeathError):
            await client.post("/v1/tasks", json=TASK, headers=stage.owner("ann"))
    ((_, entry),) = stage.memory.audit.items()
    assert (entry.action, entry.done, len(stage.memory.tasks)) == ("createTask", False, 1)
