"""Import over HTTP: an archive becomes a workspace of who imports it, under new ids, once and whole."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import httpx
import pytest

from ferryman import verify_receipts as verifier
from ferryman.archives.reading import iterate_files
from ferryman.domain.archives.manifest import MANIFEST
from ferryman.domain.workspaces.member import Role
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.vault import sign
from tests.receipts.runs import RUNS, FinishedRun, finish_run

from .conftest import TASK, Stage
from .importing import IMPORTS, describe_file, import_archive, read_values, send_files, take_apart
from .test_events import finish
from .test_executions import started
from .test_export import default, export

OMITTED = ("id", "agent", "task", "credentials")  # a value that is not entered yet has no label
DECLARED = {
    "kind": "http",
    "name": "look_up",
    "url": "https://api.github.com/repos/{name}",
    "headers": {"authorization": "Bearer {{secrets.GITHUB_TOKEN}}"},
    "parameters": {"name": {"type": "string", "enum": ["é", "b"]}},
}


@pytest.fixture
async def archive(client: httpx.AsyncClient, task: str, stage: Stage) -> bytes:
    """Ann's default workspace: agents, a task with a credential and a declared tool, a schedule, and history."""
    limits = {"name": "Kitchen", "allowed_tools": ["api_call"], "max_credits_month": 500}
    assert (await client.patch(f"/v1/workspaces/{derive_default_workspace('ann')}", json=limits)).status_code == 200
    fields = {"system_prompt": "Be brief.", "tool_settings": {"api_call": {"calls_max": 2}}, "max_credits_month": 7}
    agent = (await client.post("/v1/agents", json={"template": "wally", "name": "Prices", **fields})).json()["agent_id"]
    daily = {**TASK, "name": "daily", "agent_id": agent, "schedule": {"type": "cron", "cron": "0 9 * * *"}}
    assert (await client.post("/v1/tasks", json=daily)).status_code == 201
    token = {"value": "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", "service": "github"}
    assert (await client.put(f"/v1/tasks/{task}/credentials/GITHUB_TOKEN", json=token)).is_success
    declared = await client.post(f"/v1/tasks/{task}/tools", json=DECLARED)
    assert declared.status_code == 201, declared.text
    finish(stage.memory, await started(client, task, input="Hello"))
    return (await client.get(default())).content


@pytest.fixture
async def bob(client: httpx.AsyncClient, archive: bytes, stage: Stage) -> httpx.AsyncClient:
    """Answer the client as bob, who has nothing yet."""
    client.headers.update(stage.owner("bob"))
    return client


async def export_files(client: httpx.AsyncClient, workspace: str) -> dict[str, bytes]:
    archive = (await client.get(f"/v1/workspaces/{workspace}/export")).content
    return {name: data for name, data in iterate_files(io.BytesIO(archive)) if name != MANIFEST}


def without_ids(files: dict[str, bytes]) -> dict[str, Any]:
    """Return the lines by kind, without what names an id, and without the times of the workspace itself."""
    by_kind: dict[str, Any] = {}
    for kind in ("agents", "tasks", "tools"):
        lines = [{name: value for name, value in line.items() if name not in OMITTED} for line in read_values(files, kind)]
        by_kind[kind] = sorted(lines, key=str)
    (workspace,) = read_values(files, "workspace")
    by_kind["workspace"] = {name: workspace[name] for name in ("name", "allowed_tools", "max_credits_month", "retention_days")}
    history = read_values(files, "executions")
    by_kind["executions"] = [(line["kind"], line.get("value")) for line in history]
    return by_kind


async def test_what_is_exported_again_is_the_same_up_to_ids_and_origin(bob: httpx.AsyncClient, archive: bytes) -> None:
    workspace = await import_archive(bob, archive)
    before, after = take_apart(archive)[1], await export_files(bob, workspace)
    default_agent = {"created_at", "updated_at"}  # of the default agent, which is changed and not made

    def compare(files: dict[str, bytes]) -> dict[str, Any]:
        lines = without_ids(files)
        lines["agents"] = [
            {name: line[name] for name in line.keys() - (default_agent if line["is_default"] else set())}
            for line in lines["agents"]
        ]
        # an imported server is disabled, and nothing of it is accepted
        of_place = {"id", "enabled", "accepted"}
        for line in lines["agents"]:
            line["mcp_servers"] = [
                {name: server[name] for name in server.keys() - of_place} for server in line.get("mcp_servers", ())
            ]
        # no person here declared a tool that an archive brought
        lines["tools"] = [{**line, "tool": {**line["tool"], "is_own": False}} for line in lines["tools"]]
        return lines

    assert [line["tool"]["is_own"] for line in read_values(after, "tools")] == [False]
    assert compare(after) == compare(before)
    assert not {line["id"] for line in read_values(before, "tasks")} & {line["id"] for line in read_values(after, "tasks")}


async def test_references_name_what_was_imported_with_them(bob: httpx.AsyncClient, archive: bytes) -> None:
    files = await export_files(bob, await import_archive(bob, archive))
    agents = {line["name"]: line["id"] for line in read_values(files, "agents")}
    tasks = {line["name"]: line for line in read_values(files, "tasks")}
    assert tasks["daily"]["agent"] == agents["Prices"]
    assert [line["task"] for line in read_values(files, "tools")] == [tasks["weather report"]["id"]]
    (first, *_) = read_values(files, "executions")
    assert (first["place"]["task"], first["place"]["agent"]) == (tasks["weather report"]["id"], agents["Default"])


async def test_a_schedule_waits_until_its_task_is_turned_on(bob: httpx.AsyncClient, archive: bytes) -> None:
    bob.headers["Ferryman-Workspace"] = await import_archive(bob, archive)
    (daily,) = (await bob.get("/v1/tasks", params={"name": "daily"})).json()["tasks"]
    assert (daily["next_fire_at"], daily["paused"]) == (None, "imported: turn the task on, and its schedule runs it again")
    turned_on = (await bob.patch(f"/v1/tasks/{daily['task_id']}", json={"enabled": True})).json()
    assert (turned_on["next_fire_at"] is None, turned_on["paused"]) == (False, None)


async def test_credentials_are_told_to_be_entered_again(bob: httpx.AsyncClient, archive: bytes, stage: Stage) -> None:
    begins, files = take_apart(archive)
    workspace = (await bob.post(IMPORTS, json=begins)).json()["workspace_id"]
    answers = []
    for number, (name, data) in enumerate(files.items()):
        answers.append((await bob.put(f"{IMPORTS}/{workspace}/files?number={number}", json=describe_file(name, data))).json())
    (needed,) = [label for answer in answers for label in answer["credentials"]]
    assert (needed["task"], needed["name"], needed["service"]) == ("weather report", "GITHUB_TOKEN", "github")
    assert "api.github.com" in needed["hosts"]
    assert stage.memory.credentials.get(needed["task_id"], {}) == {}


async def test_history_is_listed_and_names_where_it_ran(bob: httpx.AsyncClient, archive: bytes, stage: Stage) -> None:
    bob.headers["Ferryman-Workspace"] = await import_archive(bob, archive)
    (before,) = [line["value"] for line in read_values(take_apart(archive)[1], "executions") if line["kind"] == "execution"]
    (listed,) = (await bob.get("/v1/executions")).json()["executions"]
    assert (listed["imported_from"], listed["status"]) == (before["execution_id"], before["status"])
    assert stage.memory.executions[listed["execution_id"]].owner == "bob"
    answer = (await bob.get(f"/v1/executions/{listed['execution_id']}")).json()
    assert answer["input"] == "Hello"


async def test_history_costs_and_counts_nothing(bob: httpx.AsyncClient, archive: bytes, stage: Stage) -> None:
    ledger = dict(stage.memory.entries)
    bob.headers["Ferryman-Workspace"] = await import_archive(bob, archive)
    assert stage.memory.entries == ledger
    assert (await bob.get("/v1/ledger")).json()["credits"] in ("0", 0) or stage.memory.entries == ledger
    assert "bob" not in stage.memory.balances
    assert list(await stage.deps().executions.list_unfinished("bob")) == []


async def export_run(run: FinishedRun) -> bytes:
    """Return the archive of the workspace of an execution with its receipts."""
    tasks = run.stage.memory.tasks  # whose webhooks resolve nowhere here
    tasks.update({name: replace(task, webhook_urls=()) for name, task in tasks.items()})
    run.stage.memory.clusters.clear()  # whose tools no API has read
    there = {version: sign.derive_public_key(private) for version, private in run.stage.keys.privates.items()}
    return await export(Stage(memory=run.stage.memory, receipt_keys=there), "o")


@pytest.fixture
async def signed_archive() -> bytes:
    """The archive of a workspace with one execution, which has receipts."""
    return await export_run(await finish_run(RUNS["with_calls"]))


@pytest.mark.parametrize("name", RUNS)
async def test_records_and_receipts_are_those_of_where_it_ran(name: str, stage: Stage, client: httpx.AsyncClient) -> None:
    run = await finish_run(RUNS[name])
    archive = await export_run(run)
    client.headers.update(stage.owner("bob"))
    client.headers["Ferryman-Workspace"] = await import_archive(client, archive)
    (listed,) = (await client.get("/v1/executions")).json()["executions"]
    record = (await client.get(f"/v1/executions/{listed['execution_id']}/record")).json()
    chain = (await client.get(f"/v1/executions/{listed['execution_id']}/receipts")).json()
    assert record == run.record
    assert chain == {**run.receipts, "next": None}
    if chain["entries"]:
        assert verifier.compare(chain, record) == ([], [])


async def test_an_import_that_is_begun_again_is_the_same_one(bob: httpx.AsyncClient, archive: bytes) -> None:
    begins, files = take_apart(archive)
    first, second = [(await bob.post(IMPORTS, json=begins)).json() for _ in range(2)]
    assert first == second
    assert (await send_files(bob, first["workspace_id"], files)).json()["state"] == "active"
    third = (await bob.post(IMPORTS, json=begins)).json()
    assert third["workspace_id"] != first["workspace_id"]


async def test_every_file_may_be_sent_again_before_the_next(bob: httpx.AsyncClient, archive: bytes, stage: Stage) -> None:
    begins, files = take_apart(archive)
    workspace = (await bob.post(IMPORTS, json=begins)).json()["workspace_id"]
    for number, (name, data) in enumerate(files.items()):
        first, second = [
            (await bob.put(f"{IMPORTS}/{workspace}/files?number={number}", json=describe_file(name, data))).json()
            for _ in range(2)
        ]
        assert first == second
    assert len([task for task in stage.memory.tasks.values() if task.owner == "bob"]) == 2
    assert (await bob.get(f"{IMPORTS}/{workspace}")).json()["following"] == len(files)


async def test_a_file_that_is_not_the_next_is_refused(bob: httpx.AsyncClient, archive: bytes) -> None:
    begins, files = take_apart(archive)
    workspace = (await bob.post(IMPORTS, json=begins)).json()["workspace_id"]
    answer = await send_files(bob, workspace, files, first=1)
    assert (answer.status_code, "the next file is number 0, counted from 0" in answer.json()["detail"]) == (409, True)


async def test_nothing_is_started_in_a_workspace_that_is_imported(bob: httpx.AsyncClient, archive: bytes) -> None:
    begins, files = take_apart(archive)
    workspace = (await bob.post(IMPORTS, json=begins)).json()["workspace_id"]
    *most, _ = files.items()
    await send_files(bob, workspace, dict(most))
    assert (await bob.get(f"/v1/workspaces/{workspace}")).json()["state"] == "importing"
    bob.headers["Ferryman-Workspace"] = workspace
    (task, *_) = (await bob.get("/v1/tasks")).json()["tasks"]
    for answer in (
        await bob.post(f"/v1/tasks/{task['task_id']}/executions"),
        await bob.patch(f"/v1/tasks/{task['task_id']}", json={"name": "x"}),
        await bob.patch(f"/v1/workspaces/{workspace}", json={"name": "x"}),
        await bob.post(f"/v1/workspaces/{workspace}/restore"),
        await bob.post(f"/v1/workspaces/{workspace}/archive"),
    ):
        assert (answer.status_code, "importing" in answer.json()["detail"]) == (409, True), answer.text
    assert (await bob.delete(f"/v1/workspaces/{workspace}")).status_code == 202
    assert (await send_files(bob, workspace, files, first=len(most))).status_code == 404


async def test_an_import_of_another_owner_is_not_found(client: httpx.AsyncClient, archive: bytes, stage: Stage) -> None:
    begins, files = take_apart(archive)
    workspace = (await client.post(IMPORTS, json=begins)).json()["workspace_id"]
    client.headers.update(stage.owner("bob"))
    theirs, nobodys = await send_files(client, workspace, files), await send_files(client, "ws_none", files)
    assert (theirs.status_code, theirs.content) == (404, nobodys.content)
    assert (await client.get(f"{IMPORTS}/{workspace}")).status_code == 404
    assert (await client.post(IMPORTS, json=begins)).json()["workspace_id"] != workspace


@pytest.mark.parametrize("role", Role)
async def test_an_import_needs_the_owners_own_key(client: httpx.AsyncClient, archive: bytes, stage: Stage, role: Role) -> None:
    answer = await client.post(IMPORTS, json=take_apart(archive)[0], headers=stage.member(role))
    assert answer.status_code == 403


async def test_limits_of_the_plan_count_what_is_imported(bob: httpx.AsyncClient, archive: bytes, stage: Stage) -> None:
    for _ in range(200 - 1):
        await bob.post("/v1/tasks", json=TASK)
    begins, files = take_apart(archive)
    workspace = (await bob.post(IMPORTS, json=begins)).json()["workspace_id"]
    answer = await send_files(bob, workspace, files)
    assert (answer.status_code, "tasks" in answer.json()["detail"]) == (409, True)
    assert (await bob.get(f"{IMPORTS}/{workspace}")).json()["state"] == "importing"


async def test_a_chat_task_comes_along_although_nobody_names_a_model(client: httpx.AsyncClient, stage: Stage) -> None:
    agent = (await client.post("/v1/agents", json={"name": "Talker"})).json()["agent_id"]
    await client.post(f"/api/agents/{agent}/chat", json={"content": "Hello?", "model": "scripted/hello"})
    exported = await client.get(f"/v1/workspaces/{derive_default_workspace('ann')}/export")
    client.headers.update(stage.owner("bob"))
    client.headers["Ferryman-Workspace"] = await import_archive(client, exported.content)
    (task,) = (await client.get("/v1/tasks", params={"name": "chat"})).json()["tasks"]
    assert task["model"] is None
