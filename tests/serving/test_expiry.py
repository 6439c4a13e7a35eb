"""The orchestrator's route for timers of kept results."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from functions_framework import aio

from ferryman.serving import orchestrator
from tests.serving.function_double import CALLER, FunctionDouble
from tests.tools.keeping.test_expiry import OLD, TODAY, Shelf, W

BODY = {"workspace": W, "owner": "o", "day": TODAY.isoformat(), "slice": 0, "cursor": ""}


async def post(shelf: Shelf, monkeypatch: pytest.MonkeyPatch, *, has_bucket: bool = True, **changed: Any) -> int:
    monkeypatch.setenv("FERRYMAN_CALLERS", f'["Bearer {CALLER}"]')
    double = FunctionDouble()
    function: Any = SimpleNamespace(
        callers=double, loop=SimpleNamespace(tracer=double.tracer), retry_after_s=1, expiry=shelf.deps if has_bucket else None
    )
    app = aio._create_asgi_app_with_function(orchestrator.serve(lambda _: function), "http", False)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://f.test") as client:
        answer = await client.post("/kept", json=BODY | changed, headers={"Authorization": f"Bearer {CALLER}"})
    return answer.status_code


async def test_a_timer_has_expired_results_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = Shelf()
    await shelf.fill(OLD)
    assert await post(shelf, monkeypatch) == 200
    assert await shelf.list() == []


async def test_a_timer_that_cannot_be_done_now_is_delivered_again(monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = Shelf()
    await shelf.fill(OLD.replace("2026", "9998"))
    shelf.timers.is_away = True
    assert await post(shelf, monkeypatch) == 503


async def test_without_a_bucket_a_timer_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert await post(Shelf(), monkeypatch, has_bucket=False) == 200


async def test_a_timer_of_no_day_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert await post(Shelf(), monkeypatch, day="tomorrow") == 400
