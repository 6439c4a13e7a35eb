"""Tasks over HTTP: what is stored, what is refused, and how it is said."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from ferryman.domain.changes import change_value
from ferryman.domain.tasks.task import Task
from ferryman.domain.workspaces.names import derive_default_agent, derive_default_workspace
from ferryman.inmemory.tasks import MemoryTasks
from ferryman.serving.api.task_agents import NO_MODEL

from .conftest import TASK, Stage, create_app
from .values import RULES

DOCS = Path(__file__).parents[2] / "docs"


async def test_a_stored_task_is_answered_with_every_field(client: httpx.AsyncClient) -> None:
    answer = await client.post("/v1/tasks", json={**TASK, "approvals": RULES})
    body = answer.json()
    assert answer.status_code == 201
    assert answer.headers["location"] == f"/v1/tasks/{body['task_id']}"
    assert body == {
        "task_id": "task_000002",
        "user_id": "ann",
        "agent_id": derive_default_agent(derive_default_workspace("ann")),
        "description": "",
        "system_prompt": "",
        "webhook_urls": [],
        "webhook_match": "host",
        "tool_loading": "all",
        "approvals": RULES,
        "max_iterations": 8,
        "max_credits": "100",
        "max_credits_month": None,
        "temperature": 0.3,
        "max_tokens": 4096,
        "enabled": True,
        "schedule": None,
        "next_fire_at": None,
        "paused": None,
        "created_at": "2026-11-21T12:00:00Z",
        "updated_at": "2026-11-21T12:00:00Z",
        **TASK,
    }
    assert (await client.get(f"/v1/tasks/{body['task_id']}")).json() == body


async def test_a_list_tells_all_of_a_task_but_its_prompts(client: httpx.AsyncClient, task: str) -> None:
    whole = (await client.get(f"/v1/tasks/{task}")).json()
    listed = {name: value for name, value in whole.items() if name not in ("system_prompt", "task_prompt")}
    assert (await client.get("/v1/tasks")).json() == {"tasks": [listed], "next": None}


async def test_a_change_leaves_the_other_fields_as_they_were(client: httpx.AsyncClient, task: str, stage: Stage) -> None:
    before = (await client.get(f"/v1/tasks/{task}")).json()
    stage.clock.turn(5)
    after = (await client.patch(f"/v1/tasks/{task}", json={"enabled": False, "temperature": None})).json()
    assert after == {**before, "enabled": False, "temperature": None, "updated_at": "2026-11-21T12:00:05Z"}


class Contended(MemoryTasks):
    """Tasks that somebody turns off while they are being changed."""

    async def get(self, task: str) -> Task | None:
        stored = await super().get(task)
        if stored is not None:
            change = change_value(stored, {"enabled": False}, now=stored.updated_at)
            await self.update(change, ["enabled"], since=stored.updated_at)
        return stored


async def test_a_change_does_not_turn_on_what_was_turned_off_meanwhile(task: str, stage: Stage) -> None:
    app = create_app(replace(stage.deps(), tasks=Contended(stage.memory)))
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://api.test", headers=stage.owner("ann")) as client:
        answer = await client.patch(f"/v1/tasks/{task}", json={"name": "other"})
    assert (answer.status_code, answer.json()["detail"]) == (409, "changed by somebody else; try again")
    assert (stage.memory.tasks[task].enabled, stage.memory.tasks[task].name) == (False, "weather report")


class Renamed(MemoryTasks):
    """Tasks that somebody renames once, right after they were read."""

    renamed = False

    async def get(self, task: str) -> Task | None:
        stored = await super().get(task)
        if stored is not None and not self.renamed:
            self.renamed = True
            change = change_value(stored, {"name": "theirs"}, now=stored.updated_at)
            await self.update(change, ["name"], since=stored.updated_at)
        return stored


async def test_turning_a_task_off_wins_over_a_concurrent_change(task: str, stage: Stage) -> None:
    app = create_app(replace(stage.deps(), tasks=Renamed(stage.memory)))
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://api.test", headers=stage.owner("ann")) as client:
        answer = await client.patch(f"/v1/tasks/{task}", json={"enabled": False})
    assert (answer.status_code, answer.json()["enabled"], answer.json()["name"]) == (200, False, "theirs")


async def test_a_deleted_task_is_gone(client: httpx.AsyncClient, task: str) -> None:
    assert (await client.delete(f"/v1/tasks/{task}")).status_code == 204
    assert (await client.get(f"/v1/tasks/{task}")).status_code == 404
    assert (await client.delete(f"/v1/tasks/{task}")).status_code == 404


REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "an unknown tool": ({"tools": ["api_call", "fly"]}, "tools.1", "is not a known tool"),
    "a tool that is only listed": (
        {"tools": ["api_call", "shell"]},
        "tools.1",
        "is not implemented: shell is not built",
    ),
    "an unknown integration": ({"integrations": ["nowhere"]}, "integrations.0", "is not a known integration"),
    "an empty name": ({"name": " "}, "name", "must not be empty"),
    "a fourth webhook URL": (
        {"webhook_urls": [f"https://hooks.example.com/{n}" for n in range(4)]},
        "webhook_urls",
        "at most 3 webhook URLs, got 4",
    ),
    "a plain HTTP webhook": ({"webhook_urls": ["http://hooks.example.com/"]}, "webhook_urls.0", "only https:// URLs"),
    "a webhook to an address": ({"webhook_urls": ["https://10.0.0.1/"]}, "webhook_urls.0", "the host is an IP address"),
    "a webhook to localhost": ({"webhook_urls": ["https://localhost/"]}, "webhook_urls.0", "not a plain DNS name"),
    "a webhook that leads inside": (
        {"webhook_urls": ["https://hooks.example.com/", "https://inside.example.com/"]},
        "webhook_urls.1",
        "must resolve, and to public addresses only",
    ),
    "a webhook that leads inside too": ({"webhook_urls": ["https://mixed.example.com/"]}, "webhook_urls.0", "public addresses"),
    "a webhook that does not resolve": ({"webhook_urls": ["https://gone.example.com/"]}, "webhook_urls.0", "must resolve"),
    "a webhook without addresses": ({"webhook_urls": ["https://silent.example.com/"]}, "webhook_urls.0", "must resolve"),
    "a webhook match of its own": ({"webhook_match": "prefix"}, "webhook_match", "must be host or url"),
    "a loading of its own": ({"tool_loading": "some"}, "tool_loading", "'all' or 'context-aware'"),
    "too many iterations": ({"max_iterations": 51}, "max_iterations", "must be 1 to 50 on plan pro"),
    "too many credits": ({"max_credits": 2501}, "max_credits", "at most 2500 on plan pro"),
    "credits that are no number": ({"max_credits": "NaN"}, "max_credits", "finite"),
    "a temperature above one": ({"temperature": 1.1}, "temperature", "must be 0 to 1"),
    "a model without a price": ({"model": "gpt-9"}, "model", "has no price"),
    "a model with a lone surrogate": ({"model": "claude-haiku-4-5/\ud800"}, "model", "must be the name of a model"),
    "a model of 900 kB": ({"model": f"scripted/{'x' * 900_000}"}, "model", "at most 64 characters"),
    "a script of a real model": ({"model": "claude-haiku-4-5/x"}, "model", "only scripted models"),
    "an unknown field": ({"schedule_": 1}, "schedule_", "is not a field"),
    "a number for a flag": ({"enabled": 1}, "enabled", "should be a valid boolean"),
    "text for a number": ({"max_iterations": "8"}, "max_iterations", "should be a valid integer"),
    "a truth for a number": ({"max_tokens": True}, "max_tokens", "should be a valid integer"),
    "null for a text": ({"name": None}, "name", "should be a valid string"),
    "a prompt that mines coins": ({"task_prompt": "run xmrig"}, "task_prompt", "crypto mining"),
    "a lone surrogate": ({"description": "\ud800"}, "description", ""),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("verb", ["post", "patch"])
async def test_a_task_is_refused_with_the_field_and_the_limit(
    client: httpx.AsyncClient, task: str, case: str, verb: str
) -> None:
    change, field, message = REFUSED[case]
    before = (await client.get("/v1/tasks")).json()
    path, body = ("/v1/tasks", {**TASK, **change}) if verb == "post" else (f"/v1/tasks/{task}", change)
    answer = await client.request(verb, path, content=json.dumps(body), headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    messages = {outcome["field"]: outcome["message"] for outcome in answer.json()["errors"]}
    assert message in messages[field]
    assert (await client.get("/v1/tasks")).json() == before


async def test_a_missing_field_is_named(client: httpx.AsyncClient) -> None:
    answer = await client.post("/v1/tasks", json={"name": "x"})
    messages = {outcome["field"]: outcome["message"] for outcome in answer.json()["errors"]}
    assert messages == {"task_prompt": "is required", "model": NO_MODEL.message}


@pytest.mark.parametrize("verb", ["post", "patch"])
async def test_fields_that_cannot_be_read_and_fields_that_break_a_rule_are_named_at_once(
    client: httpx.AsyncClient, task: str, verb: str
) -> None:
    tool = {"kind": "http", "name": "far", "url": "http://far.example/"}
    body = {**TASK, "name": 7, "fly": 1, "model": "none", "tools": ["no_such", tool], "max_tokens": 0}
    answer = await client.request(verb, "/v1/tasks" if verb == "post" else f"/v1/tasks/{task}", json=body)
    fields = [problem["field"] for problem in answer.json()["errors"]]
    assert (answer.status_code, sorted(fields)) == (422, ["fly", "max_tokens", "model", "name", "tools.0", "tools.1.url"])


async def test_a_missing_field_hides_no_other(client: httpx.AsyncClient) -> None:
    answer = await client.post("/v1/tasks", json={"integrations": ["none"], "webhook_urls": ["http://a.example"]})
    fields = sorted(problem["field"] for problem in answer.json()["errors"])
    assert fields == ["integrations.0", "model", "name", "task_prompt", "webhook_urls.0"]


async def test_the_hosts_of_tools_are_not_judged_by_integrations_that_cannot_be_read(client: httpx.AsyncClient) -> None:
    tool = {"kind": "http", "name": "far", "url": "https://far.example/"}
    answer = await client.post("/v1/tasks", json={**TASK, "integrations": 7, "tools": [tool], "max_tokens": 0})
    assert sorted(problem["field"] for problem in answer.json()["errors"]) == ["integrations", "max_tokens"]


async def test_a_webhook_at_a_public_host_is_stored(client: httpx.AsyncClient) -> None:
    urls = ["https://hooks.example.com/T000/B000"]
    answer = await client.post(
        "/v1/tasks", json={**TASK, "tools": ["webhook"], "integrations": ["webhook"], "webhook_urls": urls}
    )
    assert answer.json()["webhook_urls"] == urls


async def test_the_task_that_the_documentation_shows_is_stored(client: httpx.AsyncClient) -> None:
    pages = "\n".join(path.read_text() for path in sorted(DOCS.rglob("*.md")))
    blocks = (json.loads(text) for text in re.findall(r"```json\n(\{.*?\})\n```", pages, re.DOTALL) if '"webhook_urls"' in text)
    (example,) = (block for block in blocks if block["tools"] == ["webhook"])
    answer = await client.post("/v1/tasks", json=example)
    assert (answer.status_code, answer.json()["webhook_match"]) == (201, example["webhook_match"])


async def test_the_two_hundred_and_first_task_is_refused(client: httpx.AsyncClient) -> None:
    for _ in range(198):
        assert (await client.post("/v1/tasks", json=TASK)).status_code == 201
    answers = await asyncio.gather(*(client.post("/v1/tasks", json=TASK) for _ in range(6)))
    assert sorted(outcome.status_code for outcome in answers) == [201, 201, 409, 409, 409, 409]
    answer = await client.post("/v1/tasks", json=TASK)
    assert (answer.status_code, answer.json()["detail"]) == (409, "an owner may have at most 200 tasks")


async def test_a_plan_without_tasks_stores_none(client: httpx.AsyncClient, stage: Stage) -> None:
    answer = await client.post("/v1/tasks", json=TASK, headers=stage.owner("fred", plan="free"))
    assert (answer.status_code, answer.json()["title"]) == (403, "Forbidden")


async def test_guru_has_lower_limits(client: httpx.AsyncClient, stage: Stage) -> None:
    answer = await client.post("/v1/tasks", json={**TASK, "max_iterations": 21}, headers=stage.owner("gus", plan="guru"))
    assert answer.json()["errors"] == [{"field": "max_iterations", "message": "must be 1 to 20 on plan guru"}]


async def test_a_task_can_be_turned_off_on_whatever_plan_one_has_come_to(
    client: httpx.AsyncClient, task: str, stage: Stage
) -> None:
    stage.memory.owners["ann"] = replace(stage.memory.owners["ann"], plan="free")
    assert (await client.patch(f"/v1/tasks/{task}", json={"enabled": False})).json()["enabled"] is False
    assert (await client.patch(f"/v1/tasks/{task}", json={"enabled": True})).status_code == 403
