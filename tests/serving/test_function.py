"""The function api: what functions-framework serves is the API itself, built at the first request."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from functions_framework import aio

from ferryman.composition.api import ApiDependencies
from ferryman.serving import api
from ferryman.settings import Settings

from .conftest import TASK, Stage
from .test_events import kinds
from .test_executions import started

SOURCE = Path(__file__).parents[2] / "functions" / "api" / "main.py"


@pytest.fixture
def functions(monkeypatch: pytest.MonkeyPatch) -> None:
    """functions-framework keeps what it has registered in a module's globals; none of it outlives the test."""
    from functions_framework import _function_registry as registry

    monkeypatch.setattr(registry, "REGISTRY_MAP", {})
    monkeypatch.setattr(registry, "ASGI_FUNCTIONS", set())


@asynccontextmanager
async def served(app: Any) -> AsyncIterator[str]:
    """Yield `app` on a free loopback port, as uvicorn serves it."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="off"))
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        await serving
        listening.close()


def test_the_source_is_the_function(functions: None) -> None:
    text = SOURCE.read_text()
    assert "main = api.serve()" in text
    assert len(text.splitlines()) < 10


async def test_the_dependencies_are_built_at_the_first_request_and_once(stage: Stage, functions: None) -> None:
    built: list[Settings] = []

    def build(settings: Settings) -> ApiDependencies:
        built.append(settings)
        return stage.deps()

    app = aio._create_asgi_app_with_function(api.serve(build), "http", False)  # type: ignore[no-untyped-call] # it has no types
    assert built == []
    headers = stage.owner("ann")
    async with served(app) as url, httpx.AsyncClient(base_url=url, headers=headers, trust_env=False) as client:
        task = (await client.post("/v1/tasks", json=TASK)).json()["task_id"]
        execution = await started(client, task)
        await client.post(f"/v1/executions/{execution}/cancel")
        assert kinds((await client.get(f"/v1/executions/{execution}/events")).text) == [("1", "finished")]
        assert (await client.get("/healthz")).json() == {"status": "ok"}
        assert (await client.get("/nothing")).headers["content-type"] == "application/problem+json"
        assert (await client.post("/v1/tasks", content=b" " * 1_000_001)).status_code == 413
    assert len(built) == 1
