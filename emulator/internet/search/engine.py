"""The engine: `GET /search?q=…&format=json` as SearXNG answers it, over the pages alone and the same at every time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from emulator.internet.routes import ReceivedRequest
from emulator.internet.search.pages import ENGINES, PAGES, FixturePage
from emulator.web import Receive, Scope, Send

HOST = "searxng"
"""The name under which its requests are recorded."""

SNIPPET_CHARACTERS = 220
PLURAL_CHARACTERS = 3
_WORD = re.compile(r"\w+")
_SAFE_SEARCH = ("0", "1", "2")
_EMPTY_WORDS = frozenset(
    ("a", "an", "and", "at", "do", "does", "for", "how", "in", "is", "it", "of", "on", "the", "to", "what", "when")
)


class MetaSearch:
    """The application. `record` is given each request; it has no pages but those of this package."""

    def __init__(self, record: Callable[[ReceivedRequest], object], now: Callable[[], float]) -> None:
        self._record = record
        self._now = now

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        self._record(
            ReceivedRequest(
                host=HOST,
                method=request.method,
                path=scope["path"],
                query=scope["query_string"].decode("latin-1"),
                headers=tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]),
                body=b"",
                at=self._now(),
            )
        )
        await answer_search(request)(scope, receive, send)


def answer_search(request: Request) -> Response:
    """Return what SearXNG answers: 403 for a format that is not enabled, which HTML is here, and 400 without a query."""
    parameters = request.query_params
    if request.method != "GET" or request.url.path not in ("/search", "/"):
        return JSONResponse({"error": "not found"}, 404)
    if parameters.get("format") != "json":
        return Response("<!doctype html><title>403 Forbidden</title>", 403, media_type="text/html")
    query = " ".join(parameters.get("q", "").split())
    if not query:
        return JSONResponse({"error": "No query"}, 400)
    if parameters.get("safesearch", "0") not in _SAFE_SEARCH or not parameters.get("pageno", "1").isdecimal():
        return JSONResponse({"error": "Invalid value"}, 400)
    if query.startswith("!!"):  # an "external bang": SearXNG sends the client to that engine itself
        return RedirectResponse("https://httpbin.org/get", 302)
    return JSONResponse(search(query, page=int(parameters.get("pageno", "1"))))


def search(query: str, *, page: int = 1) -> dict[str, Any]:
    """Return the answer to a query: the pages that have any of its words, those with most of them first; one page of them."""
    words = _read_words(query)
    matches = sorted(((_count_matches(known, words), -number, known) for number, known in enumerate(PAGES)), reverse=True)
    rows = [row for count, _, match in matches if count for row in _write_rows(match, count)] if page == 1 else []
    return {
        "query": query,
        "number_of_results": len(rows),
        "results": rows,
        "answers": [],
        "corrections": [],
        "infoboxes": [_write_infobox(matches[0][2])] if rows else [],
        "suggestions": [] if rows else ["ferry timetable", "bees in winter"],
        "unresponsive_engines": [],
    }


def _read_words(text: str) -> frozenset[str]:
    return frozenset(map(_fold_plural, _WORD.findall(text.casefold()))) - _EMPTY_WORDS


def _fold_plural(word: str) -> str:
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word.removesuffix("s") if len(word) > PLURAL_CHARACTERS else word


def _count_matches(page: FixturePage, words: frozenset[str]) -> int:
    return len(words & _read_words(" ".join((page.title, page.author, page.host, *page.paragraphs))))


def _write_rows(page: FixturePage, count: int) -> Iterator[Mapping[str, Any]]:
    """Yield the row of a page, merged over its engines; and one for each other form of its URL, which SearXNG takes for
    another page."""
    yield _write_row(page, page.url, page.engines, count)
    for number, url in enumerate(page.again):
        yield _write_row(page, url, (page.engines[-1 - number],), count)


def _write_row(page: FixturePage, url: str, engines: tuple[str, ...], count: int) -> Mapping[str, Any]:
    parts = urlsplit(url)
    positions = [1 + ENGINES.index(engine) % 3 for engine in engines]
    return {
        "url": url,
        "title": page.title,
        "content": page.paragraphs[0][:SNIPPET_CHARACTERS],
        "publishedDate": f"{page.published}T00:00:00" if page.published else None,
        "thumbnail": "",
        "engine": engines[0],
        "template": "default.html",
        "parsed_url": [parts.scheme, parts.netloc, parts.path, "", parts.query, parts.fragment],
        "img_src": "",
        "priority": "",
        "engines": list(engines),
        "positions": positions,
        "score": round(count * sum(1 / position for position in positions), 4),
        "category": "general",
    }


def _write_infobox(page: FixturePage) -> Mapping[str, Any]:
    return {
        "infobox": page.title,
        "id": page.url,
        "content": page.paragraphs[-1],
        "img_src": None,
        "urls": [{"title": page.host, "url": page.url}],
        "attributes": [],
        "engine": "wikidata",
        "engines": ["wikidata"],
    }
