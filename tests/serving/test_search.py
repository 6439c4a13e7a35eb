"""The function of web search: who may ask it, and that the engine is the one of the settings."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import httpx
import pytest

from ferryman.composition.search import TOOLS, SearchFunction
from ferryman.searxng.client import SearxngEngine
from ferryman.serving import search
from ferryman.settings import read
from tests.searxng.engines import ask_engine, write_row, write_rows
from tests.serving.function_double import CALLER, FunctionDouble, post_call

CALL = {"call": "c", "tool": "web_search_tool", "arguments": {"query": "q"}, "user": str(UUID(int=1)), "within_s": 5.0}


class Searching(FunctionDouble):
    """The function with an engine of the test's."""

    engine: SearxngEngine = ask_engine(write_rows(write_row()))


@pytest.fixture
def function(monkeypatch: pytest.MonkeyPatch) -> Searching:
    monkeypatch.setenv("FERRYMAN_CALLERS", f'["{CALLER}"]')
    return Searching()


async def post(function: Any, caller: str = CALLER, **changes: Any) -> httpx.Response:
    return await post_call(search.serve(lambda _: function), {**CALL, **changes}, caller)


async def test_the_orchestrator_is_answered_with_what_the_engine_found(function: Searching) -> None:
    assert "web_search_tool" in TOOLS
    answer = await post(function)
    assert (answer.status_code, answer.json()["code"]) == (200, None)
    assert '"url": "https://site.example/1"' in answer.json()["content"]


async def test_nobody_else_is_answered(function: Searching) -> None:
    assert (await post(function, "ferryman-api@p.iam.gserviceaccount.com")).status_code == 403


async def test_a_call_ends_when_its_time_is_up(function: Searching) -> None:
    answer = await post(function, within_s=0.0)
    assert answer.json() == {"content": "Error: Tool 'web_search_tool' timed out after 0 seconds", "code": "timed_out"}


def test_the_endpoint_is_that_of_the_settings() -> None:
    function = SearchFunction(read({"FERRYMAN_SEARXNG_ENDPOINT": "http://127.0.0.1:1"}))
    assert function.engine._endpoint == "http://127.0.0.1:1"
