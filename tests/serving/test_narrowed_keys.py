"""Keys that are narrowed to tools: what they are made with, and that beside /mcp they only read, whatever their scopes say."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from ferryman.domain.workspaces.api_key import ApiKey
from ferryman.domain.workspaces.member import Right, Role
from ferryman.inmemory.clock import START
from ferryman.serving import keys

from .conftest import Stage
from .routes import ROUTES, Ask

TOOLS = ["category:search", "calculator"]
CHANGING = [ask for ask in ROUTES if ask.method != "GET" and ask.path != "/v1/join"]


async def create(client: httpx.AsyncClient, **body: Any) -> httpx.Response:
    return await client.post("/v1/keys", json={"name": "claude", "tools": TOOLS, **body})


def use(answer: httpx.Response) -> dict[str, str]:
    return {"Authorization": f"Bearer {answer.json()['key']}"}


async def test_it_is_made_with_its_tools_and_neither_approves_nor_manages(client: httpx.AsyncClient, stage: Stage) -> None:
    answer = await create(client)
    assert (answer.status_code, answer.json()["scopes"], answer.json()["tools"]) == (201, ["read", "run"], TOOLS)
    stored = stage.memory.keys[keys.digest_key(answer.json()["key"])]
    assert (stored.tools, stored.scopes) == (tuple(TOOLS), (Right.READ, Right.RUN))
    assert {tuple(key["tools"] or ()) for key in (await client.get("/v1/keys")).json()["keys"]} == {tuple(TOOLS)}


@pytest.mark.parametrize("scope", [Right.APPROVE, Right.MANAGE])
async def test_no_other_scope_goes_with_tools(client: httpx.AsyncClient, scope: Right) -> None:
    answer = await create(client, scopes=["read", scope])
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "scopes.1")


@pytest.mark.parametrize(
    ("tools", "field"),
    [
        ([], "tools"),
        ([""], "tools.0"),
        (["category:"], "tools.0"),
        (["category:Search"], "tools.0"),
        (["search", "category:search tools"], "tools.1"),
        (["a" * 65], "tools.0"),
        (["é"], "tools.0"),
        (["calculator", "orchestrator__calculator"], "tools.1"),
        (["category:search", "category:search"], "tools.1"),
        (["x"] * 51, "tools"),
    ],
    ids=str,
)
async def test_what_names_no_tool_is_refused(client: httpx.AsyncClient, tools: list[str], field: str) -> None:
    answer = await create(client, tools=tools)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, field)


@pytest.mark.parametrize("ask", CHANGING, ids=str)
async def test_it_starts_and_changes_nothing(client: httpx.AsyncClient, stage: Stage, ask: Ask) -> None:
    key = "fm_" + "k" * 43
    stage.memory.keys[keys.digest_key(key)] = ApiKey(owner="ann", tools=("calculator",), created_at=START)
    body = {} if ask.body is None else {"json": ask.body}
    headers = {"Authorization": f"Bearer {key}"}
    answer = await client.request(ask.method, ask.url("task_x", "exec_x"), headers=headers, **body)
    assert answer.status_code == 403
    assert "tools at /mcp" in answer.json()["detail"]


async def test_it_reads_with_the_scope_for_it(client: httpx.AsyncClient) -> None:
    reading, running = await create(client, scopes=["read"]), await create(client, scopes=["run"])
    assert (await client.get("/v1/tasks", headers=use(reading))).status_code == 200
    assert (await client.get("/v1/tasks", headers=use(running))).status_code == 403


async def test_a_stored_scope_to_approve_gives_a_narrowed_key_no_right(client: httpx.AsyncClient, stage: Stage) -> None:
    headers = stage.member(Role.ADMIN, approves=True)
    digest = keys.digest_key(headers["Authorization"].removeprefix("Bearer "))
    stored = stage.memory.keys[digest]
    assert set((await client.get("/v1/me", headers=headers)).json()["rights"]) == {"read", "run", "approve", "manage"}
    stage.memory.keys[digest] = ApiKey(
        id=stored.id, owner="ann", person=stored.person, workspace=stored.workspace, tools=("x",), created_at=START
    )
    assert (await client.get("/v1/me", headers=headers)).json()["rights"] == ["read", "run"]
