"""Searching the web: the tool at the stack's own engine, and a second engine as a declared tool."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import parse_qs

import yaml

from tests.journeys.conftest import KEY, Journey, asks, call, says

EXAMPLE = Path(__file__).parents[2] / "examples/web_search.yaml"
HOST = "api.search.brave.com"


async def test_a_search_finds_pages_that_are_there(journey: Journey) -> None:
    query = f"when do night ferries cross the strait {journey.name}"
    task = await journey.task(
        asks(call("web_search_tool", query=query, max_results=2)),
        says("At 21:40.", expect=("https://harbour-times.example.com/2026/ferry-timetable",)),
        tools=["web_search_tool"],
    )
    record = await journey.run(task)
    assert record["status"] == "completed"
    (row,) = record["tool_calls"]
    assert row["content"].startswith("<tool_response")
    document = json.loads(row["content"].partition(">")[2].removesuffix("</tool_response>"))
    assert (document["query"], len(document["results"])) == (query, 2)
    received = await journey.admin.list_requests("searxng")
    assert [parse_qs(request["query"]) for request in received if journey.name in request["query"]] == [
        {"q": [query], "format": ["json"], "safesearch": ["0"], "language": ["en"]}
    ]


async def test_a_search_engine_of_the_operator_s_choice_is_a_declared_tool(journey: Journey) -> None:
    page = {"title": "A page", "url": "https://site.example/1", "description": "A text."}
    route = {"path": "/res/v1/web/search", "json": {"type": "search", "web": {"results": [page]}}}
    await journey.admin.serve_routes(HOST, [route])
    task = await journey.task(
        asks(call("brave_search", query=f"night ferries {journey.name}", count=3)),
        says("One page.", expect=("https://site.example/1",)),
        tools=[yaml.safe_load(EXAMPLE.read_text())],
        integrations=["brave_search"],
    )
    await journey.credential(task, "BRAVE_SEARCH_API_KEY", "brave_search")
    record = await journey.run(task)
    assert record["status"] == "completed"
    requests = await journey.admin.list_requests(HOST)
    (received,) = [request for request in requests if journey.name in request["query"]]
    assert parse_qs(received["query"]) == {
        **{"q": [f"night ferries {journey.name}"], "count": ["3"]},
        **{"safesearch": ["off"], "search_lang": ["en"]},
    }
    assert [value for name, value in received["headers"] if name == "x-subscription-token"] == [KEY]
