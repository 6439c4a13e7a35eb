"""A workspace that is deleted while a request is at work in it: the request stores nothing more, and says that it is gone."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import takewhile
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from ferryman.domain.workspaces.workspace import WorkspaceState

from .conftest import TASK, Stage
from .importing import IMPORTS, describe_file, send_files, take_apart
from .test_importing import archive  # noqa: F401 - a fixture
from .test_slow_imports import JSON, lose

NOT_FOUND = (404, "there is no such workspace")


def delete(stage: Stage, workspace: str, *, is_done: bool) -> None:
    """Delete the workspace as far as its first commit goes, or whole where the deletion `is_done`."""
    if is_done:
        del stage.memory.workspaces[workspace]
    else:
        stored = stage.memory.workspaces[workspace]
        stage.memory.workspaces[workspace] = replace(stored, state=WorkspaceState.DELETING)


def before_call(port: Any, name: str, change: Callable[[], object]) -> None:
    """Have something change right before the first call of a port's method."""
    call = getattr(port, name)

    async def changed(*args: Any, **named: Any) -> Any:
        setattr(port, name, call)
        change()
        return await call(*args, **named)

    setattr(port, name, changed)


def list_stored(stage: Stage, workspace: str) -> list[object]:
    memory = stage.memory
    return [
        item
        for kind in (memory.agents, memory.tasks, memory.executions)
        for item in kind.values()
        if item.workspace == workspace
    ]


def take_before(files: dict[str, bytes], kind: str) -> dict[str, bytes]:
    """Return the files of an archive before the first of this kind."""
    return dict(takewhile(lambda file: not file[0].startswith(kind), files.items()))


async def begin(client: httpx.AsyncClient, archive: bytes) -> tuple[str, dict[str, bytes]]:  # noqa: F811
    """Begin an import; return its workspace, and the files that are to be sent."""
    begins, files = take_apart(archive)
    return (await client.post(IMPORTS, json=begins)).json()["workspace_id"], files


def read_answer(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["detail"]


@pytest.mark.parametrize("is_done", [True, False])
async def test_while_a_file_comes(client: httpx.AsyncClient, archive: bytes, stage: Stage, is_done: bool) -> None:  # noqa: F811
    workspace, files = await begin(client, archive)
    (name, data), *_ = files.items()
    content = lose(json.dumps(describe_file(name, data)).encode(), lambda: delete(stage, workspace, is_done=is_done))
    answer = await client.put(f"{IMPORTS}/{workspace}/files?number=0", content=content, headers=JSON)
    assert read_answer(answer) == NOT_FOUND
    assert list_stored(stage, workspace) == []


@pytest.mark.parametrize("is_done", [True, False])
@pytest.mark.parametrize(("port", "method"), [("agents", "create"), ("tasks", "create"), ("archives", "add_history")])
async def test_while_a_file_is_stored(
    client: httpx.AsyncClient,
    app: FastAPI,
    archive: bytes,  # noqa: F811
    stage: Stage,
    port: str,
    method: str,
    is_done: bool,
) -> None:
    workspace, files = await begin(client, archive)
    stored = []

    def change() -> None:
        delete(stage, workspace, is_done=is_done)
        stored.extend(list_stored(stage, workspace))

    before_call(getattr(app.state.deps, port), method, change)
    assert read_answer(await send_files(client, workspace, files)) == NOT_FOUND
    assert list_stored(stage, workspace) == stored


@pytest.mark.parametrize("is_done", [True, False])
@pytest.mark.parametrize(("port", "method"), [("tasks", "get"), ("clusters", "list"), ("clusters", "put")])
async def test_while_the_tools_of_a_task_are_stored(
    client: httpx.AsyncClient,
    app: FastAPI,
    archive: bytes,  # noqa: F811
    stage: Stage,
    port: str,
    method: str,
    is_done: bool,
) -> None:
    workspace, files = await begin(client, archive)
    earlier = take_before(files, "tools-")
    assert (await send_files(client, workspace, earlier)).is_success

    def change() -> None:
        delete(stage, workspace, is_done=is_done)
        for task in [task.id for task in stage.memory.tasks.values() if task.workspace == workspace]:
            del stage.memory.tasks[task]

    before_call(getattr(app.state.deps, port), method, change)
    assert read_answer(await send_files(client, workspace, files, first=len(earlier))) == NOT_FOUND
    assert not any(stored for task, stored in stage.memory.clusters.items() if task not in stage.memory.tasks)


@pytest.mark.parametrize("is_done", [True, False])
async def test_while_the_agent_of_a_task_is_looked_for(
    client: httpx.AsyncClient,
    app: FastAPI,
    archive: bytes,  # noqa: F811
    stage: Stage,
    is_done: bool,
) -> None:
    workspace, files = await begin(client, archive)
    earlier = take_before(files, "tasks-")
    assert (await send_files(client, workspace, earlier)).is_success

    def change() -> None:
        delete(stage, workspace, is_done=is_done)
        for agent in [agent.id for agent in stage.memory.agents.values() if agent.workspace == workspace]:
            del stage.memory.agents[agent]

    before_call(app.state.deps.agents, "get", change)
    assert read_answer(await send_files(client, workspace, files, first=len(earlier))) == NOT_FOUND


@pytest.mark.parametrize("is_done", [True, False])
@pytest.mark.parametrize(("kind", "body"), [("tasks", TASK), ("agents", {"name": "Prices"})])
async def test_while_something_is_made_in_it(
    client: httpx.AsyncClient, app: FastAPI, stage: Stage, kind: str, body: dict[str, Any], is_done: bool
) -> None:
    workspace = (await client.post("/v1/workspaces", json={"name": "Kitchen"})).json()["workspace_id"]
    before_call(getattr(app.state.deps, kind), "create", lambda: delete(stage, workspace, is_done=is_done))
    answer = await client.post(f"/v1/{kind}", json=body, headers={"Ferryman-Workspace": workspace})
    assert read_answer(answer) == NOT_FOUND
    assert list_stored(stage, workspace) == []
