"""The tool `web_search_tool`: its arguments, and what the model reads of a search."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

import pytest

from emulator.internet.routes import ReceivedRequest
from ferryman.catalog.tools import find_tool
from ferryman.domain.calls.call import ToolCall
from ferryman.domain.http.network import NetworkPolicy
from ferryman.searxng.client import ANSWER_BYTES_MAX
from ferryman.tools.local_function.execute import Answer, answer
from ferryman.tools.search import web_search_tool  # noqa: F401 - it registers itself
from tests.searxng.engines import ENDPOINT, ask_engine, ask_fixture, write_row, write_rows


async def call(engine: Any, **arguments: Any) -> Answer:
    return await answer(ToolCall(id="c", name="web_search_tool", arguments=arguments), UUID(int=1), engine)


async def test_a_search_returns_the_query_and_the_results():
    answered = await call(ask_engine(write_rows(write_row(1))), query="ferries")
    row = {"title": "Page 1", "url": "https://site.example/1", "snippet": "A text.", "engine": "google"}
    assert (json.loads(answered.content), answered.code) == ({"query": "ferries", "results": [row]}, None)


@pytest.mark.parametrize(("max_results", "returned"), [(None, 5), (15, 15), (16, 15), (1_000_000, 15), (1, 1), (0, 1), (-3, 1)])
async def test_max_results_is_5_by_default_and_held_to_1_and_15(max_results: int | None, returned: int):
    engine = ask_engine(write_rows(*map(write_row, range(30))))
    more = {} if max_results is None else {"max_results": max_results}
    assert len(json.loads((await call(engine, query="q", **more)).content)["results"]) == returned


@pytest.mark.parametrize(
    "arguments",
    [{}, {"query": 1}, {"query": ""}, {"query": "\u200b \n"}, {"query": "x" * 1_001}, {"query": "q", "max_results": "5"}],
)
async def test_an_argument_that_is_missing_or_wrong_is_told_and_nothing_is_sent(arguments: dict[str, Any]):
    received: list[ReceivedRequest] = []
    failed = await call(ask_fixture(received), **arguments)
    assert (failed.code, failed.content[:7], received) == ("invalid_arguments", "Error: ", [])


async def test_the_query_leaves_without_what_is_invisible():
    received: list[ReceivedRequest] = []
    await call(ask_fixture(received), query="  bees\u200b in\n\n\U000e0061 winter ")
    assert received[0].query.startswith("q=bees+in+winter&")


async def test_no_argument_changes_where_the_search_goes():
    received: list = []
    arguments = {"query": "q", "endpoint": "http://evil.example", "db": "x", "user_id": "y", "url": "http://evil.example"}
    await call(ask_engine(write_rows(write_row()), received=received), **arguments)
    assert [request.url.hostname for request in received] == ["10.1.2.3"]


async def test_a_failure_of_the_engine_is_told_with_its_code_and_without_its_address():
    failed = await call(ask_engine(status=403), query="q")
    assert failed.code == "not_configured"
    assert failed.content.startswith("Error: the search engine gives no JSON (403)")
    assert ENDPOINT not in failed.content


def test_the_catalog_says_how_long_a_search_may_take_how_much_is_read_and_where_it_goes():
    policy = find_tool("web_search_tool").policy
    assert (policy.timeout_s, policy.response_bytes_max) == (10, ANSWER_BYTES_MAX)
    assert (policy.network, policy.wrapped) == (NetworkPolicy.OPERATOR_ENDPOINT, True)


def test_a_search_itself_is_free():
    policy = find_tool("web_search_tool").policy
    assert (policy.fee, policy.counts) == (0, False)
