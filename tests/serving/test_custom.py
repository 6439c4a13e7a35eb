"""Custom tools over HTTP: what an import, a list and a chat answer, under the addresses that the tool-calling page gives."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from .conftest import TASK, Stage
from .routes import TOOL

URL = "https://api.github.com/openapi.json"
PETS = {
    "/pets": {
        "get": {"operationId": "listPets", "summary": "List pets", "parameters": [{"name": "limit", "in": "query"}]},
        "post": {"summary": "Create a pet"},
    },
    "/pets/{petId}": {"get": {"operationId": "getPet", "description": "One pet."}},
}


def document(paths: dict[str, Any]) -> dict[str, Any]:
    servers = [{"url": "https://api.github.com/store/"}]
    return {"openapi": "3.0.3", "info": {"title": "Store", "version": "1"}, "servers": servers, "paths": paths}


@pytest.fixture
def agent(task: str, stage: Stage) -> str:
    """A task's address as an agent; the pet store is there to be fetched."""
    stage.documents[URL] = json.dumps(document(PETS))
    return f"/api/agents/{task}"


async def names(client: httpx.AsyncClient, agent: str) -> list[tuple[str, str]]:
    answer = (await client.get(f"{agent}/tools")).json()
    assert answer["success"] is True
    return [(tool["cluster"], tool["name"]) for tool in answer["data"]]


async def test_an_import_by_url_answers_the_tools_it_made(client: httpx.AsyncClient, agent: str) -> None:
    answer = (await client.post(f"{agent}/tools/import-openapi", json={"url": URL, "cluster": "my_api"})).json()
    assert (answer["success"], answer["imported"], answer["disabled"]) == (True, 3, 0)
    assert [tool["name"] for tool in answer["data"]] == ["getPet", "listPets", "post_pets"]
    assert {tool["cluster"] for tool in answer["data"]} == {"my_api"}


async def test_the_cluster_is_called_as_the_document_where_none_is_named(client: httpx.AsyncClient, agent: str) -> None:
    assert (await client.post(f"{agent}/tools/import-openapi", json={"url": URL})).json()["cluster"] == "Store"


async def test_a_tool_is_shown_with_its_base_url_and_its_path(client: httpx.AsyncClient, agent: str) -> None:
    answer = (await client.post(f"{agent}/tools/import-openapi", json={"url": URL})).json()
    tools_by_name = {tool["name"]: tool for tool in answer["data"]}
    assert tools_by_name["getPet"]["configuration"] == {
        "baseUrl": "https://api.github.com",
        "pathTemplate": "/store/pets/{petId}",
        "method": "GET",
        "pathParams": ["petId"],
        "queryParams": [],
    }
    assert tools_by_name["listPets"]["configuration"]["queryParams"] == ["limit"]
    assert {(tool["type"], tool["isEnabled"]) for tool in answer["data"]} == {("http", True)}


async def test_tools_are_listed_by_cluster_and_name(client: httpx.AsyncClient, agent: str) -> None:
    for cluster in ("b", "a"):
        paths = {f"/{cluster}/{letter}": {"get": {}} for letter in "zy"}
        await client.post(f"{agent}/tools/import-openapi", json={"spec": document(paths), "cluster": cluster})
    await client.post(f"{agent}/tools", json=TOOL)
    assert await names(client, agent) == [
        ("", "look_up"),
        *(("a", "get_a_y"), ("a", "get_a_z")),
        *(("b", "get_b_y"), ("b", "get_b_z")),
    ]


async def test_the_first_page_has_all_clusters_with_how_many_tools_they_have(client: httpx.AsyncClient, agent: str) -> None:
    await client.post(f"{agent}/tools/import-openapi", json={"url": URL})
    await client.post(f"{agent}/tools", json=TOOL)
    path = agent.replace("/api/agents", "/v1/tasks") + "/tools"
    first = (await client.get(path, params={"limit": 1})).json()
    assert first["clusters"] == [
        {"name": "", "tools": 1, "disabled": 0},
        {"name": "Store", "tools": 3, "disabled": 0},
    ]
    assert (await client.get(path, params={"limit": 1, "cursor": first["next"]})).json()["clusters"] == []


async def test_a_list_may_be_of_one_cluster_alone(client: httpx.AsyncClient, agent: str) -> None:
    for cluster in ("a", "b", "c"):
        paths = {f"/{cluster}/{letter}": {"get": {}} for letter in "zy"}
        await client.post(f"{agent}/tools/import-openapi", json={"spec": document(paths), "cluster": cluster})
    path, read, query = agent.replace("/api/agents", "/v1/tasks") + "/tools", [], {"cluster": "b", "limit": "1"}
    while query.get("cursor") is None or query["cursor"]:
        page = (await client.get(path, params=query)).json()
        read += [tool["name"] for tool in page["data"]]
        query["cursor"] = page["next"] or ""
    assert read == ["get_b_y", "get_b_z"]


async def test_the_tools_of_no_cluster_are_listed_alone(client: httpx.AsyncClient, agent: str) -> None:
    await client.post(f"{agent}/tools/import-openapi", json={"url": URL})
    await client.post(f"{agent}/tools", json=TOOL)
    answer = (await client.get(f"{agent}/tools", params={"cluster": ""})).json()
    assert ([tool["name"] for tool in answer["data"]], answer["next"]) == (["look_up"], None)


async def test_importing_a_cluster_again_replaces_it(client: httpx.AsyncClient, agent: str) -> None:
    await client.post(f"{agent}/tools/import-openapi", json={"url": URL})
    await client.post(f"{agent}/tools/import-openapi", json={"spec": document({"/cats": {"get": {}}})})
    assert await names(client, agent) == [("Store", "get_cats")]


async def test_a_cluster_is_deleted_with_all_its_tools_and_no_other(client: httpx.AsyncClient, agent: str) -> None:
    await client.post(f"{agent}/tools/import-openapi", json={"url": URL})
    await client.post(f"{agent}/tools", json=TOOL)
    assert (await client.delete(f"{agent}/tools/cluster/Store")).json()["success"] is True
    assert await names(client, agent) == [("", "look_up")]


async def test_a_tool_is_declared_listed_and_deleted_by_its_id(client: httpx.AsyncClient, agent: str) -> None:
    declared = await client.post(f"{agent}/tools", json=TOOL)
    assert (declared.status_code, declared.json()["success"]) == (201, True)
    (listed,) = (await client.get(f"{agent}/tools")).json()["data"]
    assert listed == declared.json()["data"]
    assert set(listed) >= {"id", "name", "description", "type", "configuration", "isEnabled", "cluster"}
    assert (await client.delete(f"{agent}/tools", params={"id": listed["id"]})).json()["success"] is True
    assert await names(client, agent) == []
    assert (await client.delete(f"{agent}/tools", params={"id": listed["id"]})).status_code == 404


async def test_a_chat_is_told_name_description_and_parameters_of_each_tool(client: httpx.AsyncClient, agent: str) -> None:
    await client.post(f"{agent}/tools", json={**TOOL, "description": "Looks a user up."})
    (builtin, declared) = (await client.get(f"{agent}/chat/tools")).json()["tools"]
    assert set(builtin) == {"name", "description", "parameters"}
    assert builtin["name"] == TASK["tools"][0]
    assert declared == {
        "name": "look_up",
        "description": "Looks a user up.",
        "parameters": {
            "type": "object",
            "properties": {"user": {"type": "string"}},
            "required": ["user"],
            "additionalProperties": False,
        },
    }


async def test_a_chat_is_not_told_of_a_tool_that_is_disabled(client: httpx.AsyncClient, agent: str) -> None:
    await client.post(f"{agent}/tools", json={**TOOL, "enabled": False})
    tools = (await client.get(f"{agent}/chat/tools")).json()["tools"]
    assert [tool["name"] for tool in tools] == TASK["tools"]


@pytest.mark.parametrize(
    ("settings", "tools"),
    [
        ({"enabled_tools": ["look_up", "web_fetch"]}, ["look_up"]),
        ({"enabled_tools": []}, []),
        ({"tools_enabled": False}, []),
        ({"allowed_tools": [TASK["tools"][0]]}, [TASK["tools"][0]]),
    ],
)
async def test_a_chat_is_not_told_of_a_tool_that_its_agent_takes_away(
    client: httpx.AsyncClient, agent: str, settings: dict[str, Any], tools: list[str]
) -> None:
    await client.post(f"{agent}/tools", json=TOOL)
    task = (await client.get(agent.replace("/api/agents", "/v1/tasks"))).json()
    assert (await client.patch(f"/v1/agents/{task['agent_id']}", json=settings)).status_code == 200
    assert [tool["name"] for tool in (await client.get(f"{agent}/chat/tools")).json()["tools"]] == tools


async def test_a_change_whose_tools_are_refused_changes_nothing_else_either(client: httpx.AsyncClient, agent: str) -> None:
    await client.post(f"{agent}/tools/import-openapi", json={"spec": document(PETS), "cluster": "pets"})
    address = agent.replace("/api/agents", "/v1/tasks")
    body = {"name": "another name", "tools": ["api_call", {**TOOL, "name": "listPets"}]}
    answer = await client.patch(address, json=body)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "tools.0.name")
    assert (await client.get(address)).json()["name"] == TASK["name"]


async def test_words_find_the_tools_that_fit_them_the_best_first(client: httpx.AsyncClient, agent: str) -> None:
    await client.post(f"{agent}/tools/import-openapi", json={"url": URL})
    await client.post(f"{agent}/tools", json={**TOOL, "description": "Looks a user up."})
    answer = (await client.get(f"{agent}/tools", params={"query": "create a pet"})).json()
    assert (answer["success"], answer["data"][0]["name"], answer["next"]) == (True, "post_pets", None)
    assert "look_up" not in [tool["name"] for tool in answer["data"]]


async def test_words_that_fit_no_tool_find_none(client: httpx.AsyncClient, agent: str) -> None:
    await client.post(f"{agent}/tools", json={**TOOL, "description": "Looks a user up."})
    assert (await client.get(f"{agent}/tools", params={"query": "the weather in Rome"})).json()["data"] == []


async def test_no_more_tools_are_found_than_the_limit(client: httpx.AsyncClient, agent: str) -> None:
    await client.post(f"{agent}/tools/import-openapi", json={"url": URL})
    answer = await client.get(f"{agent}/tools", params={"query": "pets", "limit": 1})
    assert len(answer.json()["data"]) == 1


async def test_a_search_has_one_page(client: httpx.AsyncClient, agent: str) -> None:
    await client.post(f"{agent}/tools/import-openapi", json={"url": URL})
    cursor = (await client.get(f"{agent}/tools", params={"limit": 1})).json()["next"]
    answer = await client.get(f"{agent}/tools", params={"query": "pets", "cursor": cursor})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "cursor")


async def test_a_search_finds_no_tool_of_another_task(client: httpx.AsyncClient, agent: str) -> None:
    await client.post(f"{agent}/tools/import-openapi", json={"url": URL})
    other = (await client.post("/v1/tasks", json={**TASK, "name": "other"})).json()["task_id"]
    assert (await client.get(f"/v1/tasks/{other}/tools", params={"query": "listPets"})).json()["data"] == []
