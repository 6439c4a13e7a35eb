"""No link of any page leads nowhere: every one on every page of a filled site is followed, and so are those behind it."""

from __future__ import annotations

import html
import re
from collections import deque
from urllib.parse import urlsplit

import httpx

from tests.browser.filled_site import build_empty_site, build_site
from tests.browser.visits import list_paths

from .conftest import SAME_SITE, Browser

PAGES_MAX = 2_000
HREF = re.compile(r'<(?:a|link|script)\b[^>]*?\b(?:href|src)="([^"]*)"')
EMPTY_NOUNS = ("_", "/COINGECKO", "notes.md")
"""In the path of what is not there on the first day."""


async def find_dead_links(browser: Browser, starts: list[str]) -> dict[str, str]:
    """Return the links that lead nowhere, each with the page that it is on and what it was answered with."""
    waiting, known, dead = deque((path, "") for path in starts), set(starts), {}
    while waiting:
        path, origin = waiting.popleft()
        answer = await browser.http.get(path, headers=SAME_SITE)
        if answer.status_code != 200:
            dead[path] = f"{answer.status_code}, on {origin}"
            continue
        if not answer.headers["content-type"].startswith("text/html"):
            continue
        ids = set(re.findall(r'\bid="([^"]*)"', answer.text))
        for href in map(html.unescape, HREF.findall(answer.text)):
            target = answer.url.join(href)
            if href.startswith("#") and href[1:] not in ids:
                dead[f"{path}{href}"] = "no such id"
            place = target.raw_path.decode()
            if target.host == answer.url.host and place not in known:
                known.add(place)
                waiting.append((place, path))
        assert len(known) < PAGES_MAX, "links lead on for ever"
    return dead


async def test_every_link_of_a_filled_site_leads_to_a_page() -> None:
    site = build_site()
    async with httpx.AsyncClient(transport=httpx.ASGITransport(site.app), base_url="https://testserver") as http:
        browser = Browser(http=http)
        await browser.sign_in(site.key)
        assert await find_dead_links(browser, list_paths()) == {}


async def test_every_link_of_an_empty_site_leads_to_a_page() -> None:
    site = build_empty_site()
    starts = [path for path in list_paths() if not any(noun in path for noun in EMPTY_NOUNS)]
    async with httpx.AsyncClient(transport=httpx.ASGITransport(site.app), base_url="https://testserver") as http:
        browser = Browser(http=http)
        await browser.sign_in(site.key)
        assert await find_dead_links(browser, starts) == {}


def test_a_link_on_a_page_is_seen() -> None:
    page = '<a class="button" href="../console/x?a=1&amp;b=2">x</a> <script type="module" src="../a.js"></script>'
    assert [urlsplit(html.unescape(href)).path for href in HREF.findall(page)] == ["../console/x", "../a.js"]
