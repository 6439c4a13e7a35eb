"""The sites of the pages: real hosts of the simulated internet, behind TLS, with navigation and all, as pages have it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from itertools import groupby

from emulator.internet.routes import Route
from emulator.internet.search.pages import PAGES, FixturePage

HTTPBIN = "httpbin.org"


def build_sites() -> Mapping[str, tuple[Route, ...]]:
    """Return the routes of every site, by its host."""
    ordered = sorted(PAGES, key=lambda page: page.host)
    sites = {host: tuple(_build_routes(tuple(pages))) for host, pages in groupby(ordered, key=lambda page: page.host)}
    echo = [_route(path, b"", method=method, echo=True) for path, method in (("/get", "GET"), ("/post", "POST"))]
    return {**sites, HTTPBIN: (*sites[HTTPBIN], *echo)}


def _build_routes(pages: tuple[FixturePage, ...]) -> Iterator[Route]:
    links = "".join(f'<li><a href="{escape(page.path)}">{escape(page.title)}</a></li>' for page in pages)
    for page in pages:
        yield _route(page.path, _write_page(page, links).encode())
    yield _route("/robots.txt", b"User-agent: *\nDisallow: /private/\n", kind="text/plain")


def _write_page(page: FixturePage, links: str) -> str:
    by = f'<p class="byline">By <span class="author">{escape(page.author)}</span></p>' if page.author else ""
    date = f'<time datetime="{page.published}">{page.published}</time>' if page.published else ""
    text = "".join(f"<p>{escape(paragraph)}</p>" for paragraph in page.paragraphs)
    title = escape(page.title)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title></head><body>'
        f"<header><nav><ul>{links}</ul></nav></header>"
        f"<article><h1>{title}</h1>{by}{date}{text}</article>"
        f"<footer>A page of the simulated internet: all of it is made up.</footer></body></html>"
    )


def _route(path: str, body: bytes, *, method: str = "GET", kind: str = "text/html; charset=utf-8", echo: bool = False) -> Route:
    headers = () if echo else (("content-type", kind),)
    return Route(method=method, path=path, status=200, headers=headers, body=body, delay_s=0.0, echo=echo)
