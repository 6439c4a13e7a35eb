"""The search engine of the simulated internet: it answers as SearXNG does, the same at every time, and its pages are there."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from emulator.internet.routes import ReceivedRequest, find
from emulator.internet.search import PAGES, MetaSearch, build_sites
from emulator.internet.search.pages import ENGINES

FIELDS = {
    *("query", "number_of_results", "results", "answers", "corrections", "infoboxes", "suggestions", "unresponsive_engines"),
}
"""The members of an answer of SearXNG."""

ROW = {
    *("url", "title", "content", "publishedDate", "thumbnail", "engine", "template", "parsed_url", "img_src", "priority"),
    *("engines", "positions", "score", "category"),
}
"""The members of a row of it."""


async def get(path: str = "/search", **parameters: str) -> httpx.Response:
    received: list[ReceivedRequest] = []
    transport = httpx.ASGITransport(MetaSearch(received.append, lambda: 0.0))
    async with httpx.AsyncClient(transport=transport, base_url="http://engine.test") as client:
        answer = await client.get(path, params=parameters)
    assert [request.path for request in received] == [path]
    return answer


async def search(query: str, **more: str) -> dict[str, Any]:
    answer = await get(q=query, format="json", **more)
    assert answer.status_code == 200
    answered: dict[str, Any] = answer.json()
    return answered


async def test_an_answer_has_the_members_of_searxng_and_so_has_a_row():
    answer = await search("bees in winter")
    assert (set(answer), {frozenset(row) for row in answer["results"]}) == (FIELDS, {frozenset(ROW)})


async def test_the_same_query_is_answered_the_same():
    assert await search("ferries and rivers") == await search("ferries and rivers")


async def test_a_page_with_more_of_the_words_comes_first():
    rows = (await search("battery ferry costs"))["results"]
    assert rows[0]["url"] == "https://harbour-times.example.com/2026/battery-ferry"


async def test_seven_engines_find_pages_and_some_find_one_under_another_url():
    rows = (await search("ferries bees rivers page"))["results"]
    assert {engine for row in rows for engine in row["engines"]} == set(ENGINES)
    assert len(ENGINES) == 7
    titles = [row["title"] for row in rows]
    assert len(titles) > len(set(titles))


async def test_nothing_is_found_for_words_of_no_page_and_something_is_suggested():
    answer = await search("quantum chromodynamics")
    assert (answer["results"], bool(answer["suggestions"])) == ([], True)


async def test_a_second_page_is_empty():
    assert (await search("bees", pageno="2"))["results"] == []


@pytest.mark.parametrize(
    ("parameters", "status"),
    [
        ({"q": "bees"}, 403),
        ({"q": "bees", "format": "csv"}, 403),
        ({"q": " ", "format": "json"}, 400),
        ({"format": "json"}, 400),
        ({"q": "bees", "format": "json", "safesearch": "3"}, 400),
        ({"q": "!!g bees", "format": "json"}, 302),
    ],
)
async def test_what_searxng_refuses_is_refused(parameters: dict[str, str], status: int):
    assert (await get(**parameters)).status_code == status


async def test_no_other_path_is_served():
    assert (await get("/config", format="json")).status_code == 404


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.url)
def test_every_page_is_served_by_its_site(page):
    route = find(build_sites()[page.host], "GET", page.path)
    assert route is not None
    assert page.paragraphs[-1][-30:].encode() in route.body
