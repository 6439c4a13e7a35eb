"""The groups of routes: an app that has served nothing yet finds every route, and imports those of its request alone."""

from __future__ import annotations

import asyncio

import httpx
import pytest
from fastapi import FastAPI

from ferryman.serving import api
from ferryman.serving.api.groups import RouteGroups

from .conftest import Stage
from .routes import ROUTES, Ask


@pytest.fixture
def fresh(stage: Stage) -> FastAPI:
    """An app whose routes are loaded by nobody else."""
    return api.create(stage.deps())


@pytest.fixture
def groups() -> RouteGroups:
    return RouteGroups(FastAPI())


async def request(app: FastAPI, method: str, url: str) -> httpx.Response:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://api.test") as client:
        return await client.request(method, url)


@pytest.mark.parametrize("ask", ROUTES, ids=str)
async def test_a_route_is_found_by_an_app_that_has_served_nothing(fresh: FastAPI, ask: Ask) -> None:
    answer = await request(fresh, ask.method, ask.url("task_x", "exec_x"))
    # without a key, a route of its own refuses for what is missing in the body
    assert answer.status_code in ((422,) if ask.path == "/v1/join" else (200, 401)), answer.text


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/v1/me", ["account"]),
        ("/v1/tasks", ["tasks"]),
        ("/v1/tasks/t", ["tasks"]),
        ("/v1/tasks/t/credentials", ["credentials"]),
        ("/v1/tasks/t/credentials/connect/finish", ["connections", "credentials"]),
        ("/v1/tasks/t/executions", ["executions"]),
        ("/v1/executions/e/events", ["executions"]),
        ("/v1/tasks/t/tools/cluster/a/b\nc", ["custom"]),
        ("/api/agents/t/chat/tools", ["custom"]),
        ("/v1/models", ["tables"]),
        ("/v1/nothing", []),
        ("/v2/tasks", []),
    ],
)
def test_a_path_is_served_by_the_groups_that_may_have_it(groups: RouteGroups, path: str, expected: list[str]) -> None:
    assert groups.find(path) == expected


async def test_a_group_is_loaded_once(groups: RouteGroups) -> None:
    await groups.load("/v1/me")
    assert groups.find("/v1/me") == []


async def test_requests_that_come_together_find_one_route_each(fresh: FastAPI) -> None:
    answers = await asyncio.gather(*(request(fresh, "GET", "/v1/me") for _ in range(4)))
    assert [answer.status_code for answer in answers] == [401] * 4
    assert [*fresh.openapi()["paths"]["/v1/me"]] == ["get"]


async def test_the_description_is_the_same_whichever_group_was_asked_first(fresh: FastAPI, app: FastAPI) -> None:
    for path in ("/api/agents/t/tools", "/v1/models", "/v1/me"):
        await request(fresh, "GET", path)
    assert [*fresh.openapi()["paths"]] == [*app.openapi()["paths"]]


async def test_a_method_that_no_group_serves_is_answered_with_those_of_all(fresh: FastAPI) -> None:
    answer = await request(fresh, "POST", "/v1/tasks/t/credentials/A_KEY")
    assert (answer.status_code, answer.headers["allow"]) == (405, "DELETE, PUT")
