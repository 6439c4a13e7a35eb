"""The start of a function: what answers before its dependencies are built, and that these are built once."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Iterator
from types import SimpleNamespace

import httpx
import pytest
from functions_framework import aio

from ferryman.serving import api, lazy_root, tool, trigger
from ferryman.serving.lazy_root import YOUNG_MAX
from ferryman.settings import Settings

from .conftest import Stage


def connect(main: object) -> httpx.AsyncClient:
    app = aio._create_asgi_app_with_function(main, "http", False)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://f.test")


def fail(known: Settings) -> SimpleNamespace:
    raise AssertionError("nothing is to be built")


async def test_the_api_says_that_it_answers_before_it_is_built():
    async with connect(api.serve(fail)) as client:
        assert (await client.get("/healthz")).json() == {"status": "ok"}


async def test_the_api_says_that_it_answers_while_it_is_built(stage: Stage):
    may_go_on = threading.Event()

    def build(known: Settings) -> object:
        may_go_on.wait()
        return stage.deps()

    async with connect(api.serve(build)) as client:
        first = asyncio.create_task(client.get("/v1/tasks"))
        try:
            assert (await client.get("/healthz")).status_code == 200
        finally:
            may_go_on.set()
        assert (await first).status_code == 401


async def test_the_health_is_the_one_that_the_api_describes(stage: Stage):
    app = api.create(stage.deps())
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://f.test") as described:
        expected = await described.get("/healthz")
    async with connect(api.serve(fail)) as client:
        answer = await client.get("/healthz")
    assert (answer.status_code, answer.content, answer.headers) == (
        expected.status_code,
        expected.content,
        expected.headers,
    )


@pytest.mark.parametrize(
    "serve", [trigger.serve, lambda build: tool.serve_tool("http_get", build, {})], ids=["trigger", "tool"]
)
async def test_nothing_is_built_for_who_shows_no_token(serve):
    async with connect(serve(fail)) as client:
        assert (await client.post("/", json={})).status_code == 401


async def test_requests_that_come_together_wait_for_one_build(stage: Stage):
    built = []

    def build(known: Settings) -> object:
        built.append(known)
        return stage.deps()

    async with connect(api.serve(build)) as client:
        await asyncio.gather(*(client.get("/v1/tasks") for _ in range(8)))
    assert len(built) == 1


async def test_an_instance_that_starts_builds_before_it_is_asked(stage: Stage, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(lazy_root, "BEGINS_AFTER_S", 0)
    loop, built = asyncio.get_running_loop(), asyncio.Event()

    def build(known: Settings) -> object:
        loop.call_soon_threadsafe(built.set)
        return stage.deps()

    app = aio._create_asgi_app_with_function(api.serve(build), "http", False)
    async with app.router.lifespan_context(app):
        await built.wait()


async def test_garbage_is_collected_again_after_a_build_that_failed(stage: Stage):
    async with connect(api.serve(lambda known: fail(known))) as client:
        await client.get("/v1/tasks")
    assert gc.isenabled()


@pytest.fixture
def thresholds() -> Iterator[None]:
    """Restore how often this process looks for garbage."""
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


@pytest.mark.usefixtures("thresholds")
async def test_garbage_is_collected_once_for_many_new_objects(stage: Stage):
    gc.set_threshold(700, 10, 10)
    async with connect(api.serve(lambda known: stage.deps())) as client:
        await client.get("/v1/tasks")
    assert gc.get_threshold() == (YOUNG_MAX, 10, 10)


async def test_a_build_that_failed_is_tried_again(stage: Stage):
    ways = [fail, lambda known: stage.deps()]

    async with connect(api.serve(lambda known: ways.pop(0)(known))) as client:
        assert [(await client.get("/v1/tasks")).status_code for _ in range(2)] == [500, 401]


async def test_a_client_that_leaves_does_not_stop_the_build(stage: Stage):
    may_go_on, built = threading.Event(), []

    def build(known: Settings) -> object:
        may_go_on.wait()
        built.append(known)
        return stage.deps()

    async with connect(api.serve(build)) as client:
        first = asyncio.create_task(client.get("/v1/tasks"))
        await client.get("/healthz")
        first.cancel()
        may_go_on.set()
        assert (await client.get("/v1/tasks")).status_code == 401
    assert len(built) == 1
