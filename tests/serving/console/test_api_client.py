"""The API as pages ask it: a window of many tabs waits, and is not refused."""

from __future__ import annotations

import asyncio

import pytest
from fastapi import FastAPI

from ferryman.composition.api import REQUESTS_PER_KEY
from ferryman.serving.api.limits import REQUESTS_MAX
from ferryman.serving.console.api_client import ApiClient, ApiProblemError
from ferryman.serving.console.cookies import NAME
from tests.serving.conftest import Stage

from .conftest import Browser


@pytest.fixture
def api(app: FastAPI, browser: Browser, stage: Stage) -> ApiClient:
    """What pages of the browser's session ask."""
    session = stage.memory.console_sessions[browser.http.cookies[NAME].split(".")[1]]
    origin = {"asgi": {"version": "3.0"}, "headers": []}
    return ApiClient(app=app, origin=origin, session=session, secret="s" * 43)


async def test_what_many_pages_read_at_once_waits(app: FastAPI, api: ApiClient) -> None:
    turns, digest = app.state.deps.requests_of, api.session.digest
    for _ in range(REQUESTS_PER_KEY):  # the API is slow
        await turns.take(digest)
    reads = [asyncio.ensure_future(api.get("/v1/me")) for _ in range(2 * REQUESTS_MAX)]
    await asyncio.wait(reads, timeout=0.2)
    for _ in range(REQUESTS_PER_KEY):
        turns.give(digest)
    assert len(await asyncio.gather(*reads)) == 2 * REQUESTS_MAX


async def test_a_flood_of_changes_is_refused_as_the_api_refuses_it(api: ApiClient) -> None:
    changes = (api.post("/v1/agents", {"name": "One"}) for _ in range(4 * REQUESTS_MAX))
    answers = await asyncio.gather(*changes, return_exceptions=True)
    assert 429 in {answer.status for answer in answers if isinstance(answer, ApiProblemError)}
