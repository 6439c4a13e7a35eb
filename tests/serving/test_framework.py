"""What functions-framework would answer by itself: every path and every method comes to the function instead."""

from __future__ import annotations

import httpx
import pytest
from functions_framework import aio

from ferryman.serving import api

from .conftest import Stage


@pytest.fixture
def framed(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> httpx.AsyncClient:
    """A client of the API as functions-framework serves it."""
    from functions_framework import _function_registry as registry

    monkeypatch.setattr(registry, "REGISTRY_MAP", {})
    monkeypatch.setattr(registry, "ASGI_FUNCTIONS", set())
    app = aio._create_asgi_app_with_function(api.serve(lambda _: stage.deps()), "http", False)  # type: ignore[no-untyped-call] # it has no types
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1", headers=stage.owner("ann"))


@pytest.mark.parametrize(
    "path", ["/v1/nothing%0A", "/v1/tasks/a%0Ab/tools/cluster/c%0Ad", "/robots.txt", "/favicon.ico", "/a%0D%0Ab"]
)
async def test_a_path_that_leads_nowhere_is_a_problem(framed: httpx.AsyncClient, path: str) -> None:
    answer = await framed.delete(path)
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")


@pytest.mark.parametrize("method", ["TRACE", "CONNECT", "PROPFIND", "A" * 50])
async def test_a_method_that_is_not_served_is_a_problem(framed: httpx.AsyncClient, method: str) -> None:
    answer = await framed.request(method, "/v1/tasks")
    assert (answer.status_code, answer.headers["content-type"]) == (405, "application/problem+json")
    assert answer.headers["allow"] == "GET, POST"
