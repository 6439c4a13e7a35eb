"""Attempts at a stack under load find what is done, and what is told, and count what was put off."""

from __future__ import annotations

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from tests.campaigns.isolation.attempts import Attempt
from tests.campaigns.isolation.live import LiveResults, LiveSide, attempt_live

MINE = LiveSide(headers={}, ids={"task": "task_a0a0a0a0a0", "execution": "exec_b1b1b1b1b1"})
THEIRS = LiveSide(headers={}, ids={"task": "task_c2c2c2c2c2", "execution": "exec_d3d3d3d3d3"})
ATTEMPTS = [Attempt(kind="an id in the path", method="GET", path="/v1/tasks/⟦task⟧")]
REFUSED = {"detail": "there is no such task"}


async def ask(known: tuple[int, object], unknown: tuple[int, object]) -> LiveResults:
    """Make one attempt at an API that answers so for the other's task, and so for one that nobody has."""

    async def answer(request: Request) -> JSONResponse:
        status, body = known if request.path_params["task"] == THEIRS.ids["task"] else unknown
        return JSONResponse(body, status)

    transport = httpx.ASGITransport(app=Starlette(routes=[Route("/v1/tasks/{task}", answer)]))
    async with httpx.AsyncClient(transport=transport, base_url="http://api.test") as http:
        return await attempt_live(http, ATTEMPTS, MINE, THEIRS, seed=1)


async def test_what_is_answered_alike_tells_nothing() -> None:
    assert await ask((404, REFUSED), (404, REFUSED)) == LiveResults(judged=1)


@pytest.mark.parametrize("known", [(200, {}), (404, {"execution": THEIRS.ids["execution"]})], ids=["done", "another thing"])
async def test_what_is_done_or_given_has_succeeded(known: tuple[int, object]) -> None:
    results = await ask(known, (404, REFUSED))
    assert (results.judged, len(results.succeeded), results.disclosures) == (1, 1, [])


@pytest.mark.parametrize("known", [(403, REFUSED), (404, {"detail": "it is not yours"})], ids=["status", "text"])
async def test_what_is_refused_otherwise_tells_that_it_is_there(known: tuple[int, object]) -> None:
    results = await ask(known, (404, REFUSED))
    assert (results.judged, results.succeeded, len(results.disclosures)) == (1, [], 1)


async def test_what_is_answered_with_too_many_requests_is_not_judged() -> None:
    assert await ask((429, {}), (404, REFUSED)) == LiveResults(put_off=1)
