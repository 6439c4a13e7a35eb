"""Pages of lists: each item once, and cursors that are worth something to their owner, for their list, alone."""

from __future__ import annotations

import base64
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.problem import InvalidInputError
from ferryman.serving.api.paging import CURSOR_CHARACTERS_MAX, parse_moment

from .conftest import TASK, Stage
from .routes import CREDENTIAL, SPEC, TOOL


async def read_pages(client: httpx.AsyncClient, path: str, member: str, **query: Any) -> list[list[dict[str, Any]]]:
    """Return the items of every page, by page."""
    pages, cursor = [], None
    while cursor is not None or not pages:
        body = (await client.get(path, params={**query, **({"cursor": cursor} if cursor else {})})).json()
        pages.append(body[member])
        cursor = body["next"]
    return pages


@pytest.fixture
async def executions(client: httpx.AsyncClient, task: str, stage: Stage) -> list[str]:
    """Five executions of one task, the newest first; the second newest was cancelled."""
    ids = []
    for _ in range(5):
        ids.insert(0, (await client.post(f"/v1/tasks/{task}/executions")).json()["execution_id"])
        stage.clock.turn(10)
    await client.post(f"/v1/executions/{ids[1]}/cancel")
    return ids


async def test_pages_of_executions_follow_each_other(client: httpx.AsyncClient, executions: list[str]) -> None:
    pages = await read_pages(client, "/v1/executions", "executions", limit=2)
    assert [[execution["execution_id"] for execution in page] for page in pages] == [
        executions[:2],
        executions[2:4],
        executions[4:],
    ]


async def test_pages_of_tasks_follow_each_other(client: httpx.AsyncClient) -> None:
    ids = [(await client.post("/v1/tasks", json=TASK)).json()["task_id"] for _ in range(3)]
    pages = await read_pages(client, "/v1/tasks", "tasks", limit=2)
    assert [[task["task_id"] for task in page] for page in pages] == [ids[:2], ids[2:]]


async def test_a_filter_holds_over_all_pages(client: httpx.AsyncClient, executions: list[str], task: str) -> None:
    for path in ("/v1/executions", f"/v1/tasks/{task}/executions"):
        pages = await read_pages(client, path, "executions", limit=2, status="queued")
        assert [execution["execution_id"] for page in pages for execution in page] == [executions[0], *executions[2:]]


async def test_executions_are_listed_from_a_moment_on(client: httpx.AsyncClient, executions: list[str]) -> None:
    since = (await client.get(f"/v1/executions/{executions[2]}")).json()["created_at"]
    listed = (await client.get("/v1/executions", params={"since": since})).json()["executions"]
    assert [execution["execution_id"] for execution in listed] == executions[:3]


async def test_executions_are_listed_by_task(client: httpx.AsyncClient, executions: list[str], task: str) -> None:
    assert len((await client.get("/v1/executions", params={"task": task})).json()["executions"]) == 5
    assert (await client.get("/v1/executions", params={"task": "another"})).json() == {"executions": [], "next": None}


async def test_tasks_are_listed_by_name_and_by_whether_they_are_enabled(client: httpx.AsyncClient) -> None:
    ids = []
    for number in range(4):
        body = {**TASK, "name": "ab"[number % 2], "enabled": number < 2}
        ids.append((await client.post("/v1/tasks", json=body)).json()["task_id"])

    async def list_ids(**query: Any) -> list[str]:
        return [task["task_id"] for page in await read_pages(client, "/v1/tasks", "tasks", limit=1, **query) for task in page]

    assert await list_ids(name="b") == [ids[1], ids[3]]
    assert await list_ids(enabled="true") == ids[:2]
    assert await list_ids(enabled="false", name="a") == [ids[2]]


@pytest.mark.parametrize(
    ("path", "member", "field"),
    [
        ("/v1/integrations", "integrations", "id"),
        ("/v1/tools", "tools", "name"),
        ("/v1/agent-templates", "templates", "id"),
        ("/v1/plans", "plans", "name"),
        ("/v1/models", "models", "name"),
    ],
)
async def test_pages_of_tables_hold_each_entry_once_by_name(
    client: httpx.AsyncClient, path: str, member: str, field: str
) -> None:
    whole = [entry[field] for entry in (await client.get(path, params={"limit": 100})).json()[member]]
    pages = await read_pages(client, path, member, limit=3)
    assert [entry[field] for page in pages for entry in page] == whole == sorted(whole)
    assert {len(page) for page in pages[:-1]} <= {3}


async def test_pages_of_credentials_follow_each_other(client: httpx.AsyncClient, task: str) -> None:
    for number in range(3):
        path = f"/v1/tasks/{task}/credentials/KEY_{number}"
        await client.put(path, json={"value": f"ab-{number}{CREDENTIAL['value']}", "service": "github"})
    pages = await read_pages(client, f"/v1/tasks/{task}/credentials", "credentials", limit=2)
    assert [[credential["name"] for credential in page] for page in pages] == [["KEY_0", "KEY_1"], ["KEY_2"]]


@pytest.fixture
async def tools(client: httpx.AsyncClient, task: str) -> list[str]:
    """Seven tools of the task's own, in two clusters; the task enables one built-in tool."""
    names = [f"get_{number}" for number in range(4)]
    paths = {f"/{name}": {"get": {"operationId": name, "responses": {}}} for name in names}
    await client.post(f"/v1/tasks/{task}/tools/import-openapi", json={"spec": {**SPEC, "paths": paths}, "cluster": "z"})
    for name in ("c", "a", "b"):
        await client.post(f"/v1/tasks/{task}/tools", json={**TOOL, "name": f"look_{name}"})
    return ["look_a", "look_b", "look_c", *names]


async def test_pages_of_custom_tools_follow_each_other(client: httpx.AsyncClient, task: str, tools: list[str]) -> None:
    for prefix in ("/v1/tasks", "/api/agents"):
        pages = await read_pages(client, f"{prefix}/{task}/tools", "data", limit=3)
        assert [[tool["name"] for tool in page] for page in pages] == [tools[:3], tools[3:6], tools[6:]]


@pytest.mark.parametrize("limit", [1, 2, 3])
async def test_pages_of_what_a_model_is_shown_begin_with_built_in_tools(
    client: httpx.AsyncClient, task: str, tools: list[str], limit: int
) -> None:
    pages = await read_pages(client, f"/v1/tasks/{task}/chat/tools", "tools", limit=limit)
    assert [tool["name"] for page in pages for tool in page] == ["api_call", *tools]
    assert {len(page) for page in pages[:-1]} == {limit}


async def test_the_address_of_the_tool_calling_page_lists_all_tools_where_no_limit_is_given(
    client: httpx.AsyncClient, task: str
) -> None:
    paths = {f"/{number}": {"get": {"operationId": f"get_{number}", "responses": {}}} for number in range(60)}
    await client.post(f"/v1/tasks/{task}/tools/import-openapi", json={"spec": {**SPEC, "paths": paths}})
    listed = {at: (await client.get(f"{at}/{task}/tools")).json() for at in ("/v1/tasks", "/api/agents")}
    assert {at: (len(body["data"]), body["next"] is None) for at, body in listed.items()} == {
        "/v1/tasks": (50, False),
        "/api/agents": (60, True),
    }


async def read_cursor(client: httpx.AsyncClient) -> str:
    cursor = (await client.get("/v1/executions", params={"limit": 2})).json()["next"]
    assert isinstance(cursor, str)
    return cursor


async def test_a_cursor_is_worth_nothing_to_another_owner(
    client: httpx.AsyncClient, executions: list[str], stage: Stage
) -> None:
    cursor = await read_cursor(client)
    answer = await client.get("/v1/executions", params={"cursor": cursor}, headers=stage.owner("bob"))
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "cursor")


async def test_a_cursor_is_worth_nothing_in_another_workspace(client: httpx.AsyncClient, executions: list[str]) -> None:
    cursor = await read_cursor(client)
    other = {"Ferryman-Workspace": (await client.post("/v1/workspaces", json={"name": "Other"})).json()["workspace_id"]}
    answer = await client.get("/v1/executions", params={"cursor": cursor}, headers=other)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "cursor")


async def test_a_cursor_is_worth_nothing_for_another_list(client: httpx.AsyncClient, executions: list[str], task: str) -> None:
    cursor = await read_cursor(client)
    others = (
        "/v1/tasks",
        f"/v1/tasks/{task}/executions",
        "/v1/executions?status=queued",
        f"/v1/executions/{executions[0]}/calls",
    )
    for other in others:
        answer = await client.get(other, params={"cursor": cursor, **dict(httpx.URL(other).params)})
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "cursor")


async def test_no_bit_of_a_cursor_can_be_changed(client: httpx.AsyncClient, executions: list[str]) -> None:
    cursor = await read_cursor(client)
    content = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    for place in range(len(content)):
        changed = bytes([*content[:place], content[place] ^ 1, *content[place + 1 :]])
        answer = await client.get("/v1/executions", params={"cursor": base64.urlsafe_b64encode(changed).decode().rstrip("=")})
        assert answer.status_code == 422


@pytest.mark.parametrize("cursor", ["", "x", "null", "é" * 30, "A" * 22, "A" * 23, "A" * CURSOR_CHARACTERS_MAX, "A" * 30_000])
async def test_what_is_no_cursor_is_refused(client: httpx.AsyncClient, cursor: str) -> None:
    answer = await client.get("/v1/executions", params={"cursor": cursor})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "cursor")


@pytest.mark.parametrize(
    "since", ["", "2026-11-22", "2026-11-22T09:00:00", "2026-02-30T09:00:00Z", "0001-01-01T00:00:00+14:00", "1764000000", "now"]
)
async def test_what_is_no_moment_is_refused(client: httpx.AsyncClient, since: str) -> None:
    answer = await client.get("/v1/executions", params={"since": since})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "since")


@given(st.text(max_size=40) | st.from_regex(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?[+-]\d\d:\d\d", fullmatch=True))
def test_any_text_is_a_moment_or_refused(text: str) -> None:
    try:
        moment = parse_moment(text)
    except InvalidInputError:
        return
    assert moment is not None
    assert moment.utcoffset() is not None
