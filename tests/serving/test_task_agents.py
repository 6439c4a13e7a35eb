"""The agent of a task over HTTP: one of the same workspace, whose model serves where the task names none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import httpx
import pytest

from ferryman.domain.workspaces.names import derive_default_agent, derive_default_workspace

from .conftest import TASK, Stage
from .problems import read_problems

DEFAULT = derive_default_agent(derive_default_workspace("ann"))
MODELLESS = {name: value for name, value in TASK.items() if name != "model"}
NO_MODEL = {"model": "is required: give a model, or an agent_id whose agent names one"}


@pytest.fixture
async def agent(client: httpx.AsyncClient) -> str:
    """A new agent of ann's default workspace, which names a model."""
    answer = await client.post("/v1/agents", json={"name": "Prices", "model": "scripted/hello"})
    return str(answer.json()["agent_id"])


async def store(client: httpx.AsyncClient, **fields: Any) -> dict[str, Any]:
    answer = await client.post("/v1/tasks", json={**TASK, **fields})
    assert answer.status_code == 201, answer.text
    stored: dict[str, Any] = answer.json()
    return stored


@pytest.mark.parametrize("fields", [{}, {"agent_id": None}, {"agent_id": DEFAULT}])
async def test_a_task_that_names_no_agent_is_the_default_ones(client: httpx.AsyncClient, fields: dict[str, Any]) -> None:
    assert (await store(client, **fields))["agent_id"] == DEFAULT


async def test_a_task_of_another_agent_is_stored_listed_and_started_as_that_agents(
    client: httpx.AsyncClient, stage: Stage, agent: str
) -> None:
    task = await store(client, agent_id=agent)
    await store(client)
    listed = (await client.get("/v1/tasks", params={"agent": agent})).json()["tasks"]
    assert [(item["task_id"], item["agent_id"]) for item in listed] == [(task["task_id"], agent)]
    started = (await client.post(f"/v1/tasks/{task['task_id']}/executions")).json()
    assert started["agent_id"] == stage.memory.executions[started["execution_id"]].agent == agent


async def test_a_task_without_a_model_takes_its_agents(client: httpx.AsyncClient, stage: Stage, agent: str) -> None:
    answer = await client.post("/v1/tasks", json={**MODELLESS, "agent_id": agent})
    assert (answer.status_code, answer.json()["model"]) == (201, None)
    assert stage.memory.tasks[answer.json()["task_id"]].model is None


@pytest.mark.parametrize("fields", [{}, {"model": None}])
async def test_a_task_whose_agent_names_no_model_needs_one(client: httpx.AsyncClient, fields: dict[str, Any]) -> None:
    assert read_problems(await client.post("/v1/tasks", json={**MODELLESS, **fields})) == NO_MODEL


async def test_an_agent_that_names_no_model_is_not_given_to_a_task_that_names_none(
    client: httpx.AsyncClient, agent: str
) -> None:
    task = (await client.post("/v1/tasks", json={**MODELLESS, "agent_id": agent})).json()["task_id"]
    assert read_problems(await client.patch(f"/v1/tasks/{task}", json={"agent_id": None})) == NO_MODEL


async def test_a_model_is_taken_away_where_the_agent_names_one(client: httpx.AsyncClient, agent: str) -> None:
    task = (await store(client))["task_id"]
    assert read_problems(await client.patch(f"/v1/tasks/{task}", json={"model": None})) == NO_MODEL
    changed = (await client.patch(f"/v1/tasks/{task}", json={"model": None, "agent_id": agent})).json()
    assert (changed["model"], changed["agent_id"]) == (None, agent)


async def test_an_unreadable_agent_does_not_have_a_model_asked_for(client: httpx.AsyncClient) -> None:
    assert set(read_problems(await client.post("/v1/tasks", json={**MODELLESS, "agent_id": 7}))) == {"agent_id"}


async def test_an_agent_of_anybody_else_is_answered_as_one_that_is_nowhere(client: httpx.AsyncClient, stage: Stage) -> None:
    task = (await store(client))["task_id"]
    stage.owner("bob")
    stage.memory.agents["agent_here"] = replace(
        stage.memory.agents["agent_ann"], id="agent_here", workspace="ws_ann", archived=True
    )
    named = ("agent_bob", "agent_here", derive_default_agent("ws_ann"), "agent_nowhere", "-", "../x", "ä")
    created = [await client.post("/v1/tasks", json={**TASK, "agent_id": name}) for name in named]
    changed = [await client.patch(f"/v1/tasks/{task}", json={"agent_id": name}) for name in named]
    answers = [*created, *changed]
    assert {read_problems(answer)["agent_id"] for answer in answers} == {"is not an agent of this workspace"}
    assert len({answer.content for answer in answers}) == 1


async def test_an_archived_agent_is_not_given_to_a_task(client: httpx.AsyncClient, agent: str) -> None:
    task = (await store(client))["task_id"]
    await client.post(f"/v1/agents/{agent}/archive")
    expected = {"agent_id": "is an archived agent: restore it first, or name another"}
    assert read_problems(await client.post("/v1/tasks", json={**TASK, "agent_id": agent})) == expected
    assert read_problems(await client.patch(f"/v1/tasks/{task}", json={"agent_id": agent})) == expected


async def test_a_task_of_an_agent_that_was_archived_can_be_changed_and_moved(client: httpx.AsyncClient, agent: str) -> None:
    task = (await client.post("/v1/tasks", json={**MODELLESS, "agent_id": agent})).json()["task_id"]
    await client.post(f"/v1/agents/{agent}/archive")
    assert (await client.patch(f"/v1/tasks/{task}", json={"name": "other"})).status_code == 200
    moved = await client.patch(f"/v1/tasks/{task}", json={"agent_id": None, "model": "scripted/hello"})
    assert moved.json()["agent_id"] == DEFAULT


async def test_a_task_is_changed_without_its_agent_being_read(client: httpx.AsyncClient, stage: Stage, agent: str) -> None:
    task = (await store(client, agent_id=agent))["task_id"]
    changed = (await client.patch(f"/v1/tasks/{task}", json={"name": "other"})).json()
    assert (changed["name"], changed["agent_id"]) == ("other", agent)
