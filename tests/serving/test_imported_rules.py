"""Rules that an archive brings: that nobody is asked is not believed, and the import says so."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from .conftest import TASK, Stage
from .importing import IMPORTS, describe_file, read_values, take_apart

NEVER = {"mode": "never", "tools": ["http_post"], "hosts": ["hooks.example.com"]}
ALWAYS = {"mode": "always", "methods": ["POST"]}
RULES = [ALWAYS, NEVER]
KINDS = ("workspace", "agents", "tasks")


@pytest.fixture
async def archive(client: httpx.AsyncClient) -> bytes:
    """A workspace of ann's with the same rules on every level."""
    workspace = (await client.post("/v1/workspaces", json={"name": "Kitchen", "approvals": RULES})).json()["workspace_id"]
    client.headers["Ferryman-Workspace"] = workspace
    agent = (await client.post("/v1/agents", json={"name": "Prices", "approvals": RULES})).json()["agent_id"]
    task = await client.post("/v1/tasks", json={**TASK, "name": "daily", "agent_id": agent, "approvals": RULES})
    assert task.status_code == 201, task.text
    standing = {"tool": "http_post", "uses": 5, "expires_in_days": 30}
    assert (await client.post("/v1/standing-approvals", json=standing)).status_code == 201
    del client.headers["Ferryman-Workspace"]
    return (await client.get(f"/v1/workspaces/{workspace}/export")).content


@pytest.fixture
async def imported(client: httpx.AsyncClient, archive: bytes, stage: Stage) -> list[dict[str, Any]]:
    """The answer to each file of the archive, imported as bob."""
    client.headers.update(stage.owner("bob"))
    begins, files = take_apart(archive)
    workspace = (await client.post(IMPORTS, json=begins)).json()["workspace_id"]
    answers = []
    for number, (name, data) in enumerate(files.items()):
        answer = await client.put(f"{IMPORTS}/{workspace}/files?number={number}", json=describe_file(name, data))
        assert answer.status_code == 200, answer.text
        answers.append(answer.json())
    return answers


async def test_never_becomes_when_untrusted_in_its_place_and_the_rest_of_a_rule_stays(
    client: httpx.AsyncClient, archive: bytes, imported: list[dict[str, Any]]
) -> None:
    again = (await client.get(f"/v1/workspaces/{imported[-1]['workspace_id']}/export")).content
    before, after = take_apart(archive)[1], take_apart(again)[1]
    for kind in KINDS:
        rules = [line["approvals"] for line in read_values(before, kind) if line["approvals"]]
        assert [len(items) for items in rules] == [2]
        here = [line["approvals"] for line in read_values(after, kind) if line["approvals"]]
        assert here == [[always, {**never, "mode": "when_untrusted"}] for always, never in rules]


async def test_the_answer_names_each_rule_that_was_never(imported: list[dict[str, Any]]) -> None:
    named = [(rule["kind"], rule["name"], rule["number"]) for answer in imported for rule in answer["rules"]]
    assert named == [("workspace", "Kitchen", 1), ("agent", "Prices", 1), ("task", "daily", 1)]


async def test_the_names_are_those_of_what_has_the_rules_here(
    client: httpx.AsyncClient, imported: list[dict[str, Any]]
) -> None:
    workspace, agent, task = (rule["id"] for answer in imported for rule in answer["rules"])
    assert workspace == imported[-1]["workspace_id"]
    client.headers["Ferryman-Workspace"] = workspace
    assert (await client.get(f"/v1/agents/{agent}")).json()["name"] == "Prices"
    assert (await client.get(f"/v1/tasks/{task}")).json()["name"] == "daily"


async def test_a_file_that_is_sent_again_is_told_of_again(client: httpx.AsyncClient, archive: bytes, stage: Stage) -> None:
    client.headers.update(stage.owner("bob"))
    begins, files = take_apart(archive)
    workspace = (await client.post(IMPORTS, json=begins)).json()["workspace_id"]
    name, data = next(iter(files.items()))
    path = f"{IMPORTS}/{workspace}/files?number=0"
    first, again = [(await client.put(path, json=describe_file(name, data))).json()["rules"] for _ in range(2)]
    assert first == again != []


async def test_no_standing_approval_is_imported(client: httpx.AsyncClient, imported: list[dict[str, Any]]) -> None:
    client.headers["Ferryman-Workspace"] = imported[-1]["workspace_id"]
    assert (await client.get("/v1/standing-approvals")).json()["standing_approvals"] == []
