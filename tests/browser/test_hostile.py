"""Hostile strings in every field that others write: on no page does anything run, load, or leave."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser.conftest import sign_in, watch
from tests.browser.filled_site import FilledSite, build_site, fill
from tests.browser.hostile_strings import COUNT, LONG, STRINGS, cut_chunks
from tests.browser.visits import list_paths
from tests.serve import serve_app

CHUNKS = cut_chunks(1_900)
"""As long as a page shows of a text of others, so that none is cut away."""

PAGES = [path for path in list_paths() if not path.endswith("/sign-in")]
CONTROL = "<img src=https://beacon.example/0 onerror=window.__ran.push(0)><form id=main name=main></form>"


@pytest.fixture(scope="module")
def hostile_site() -> FilledSite:
    return build_site()


@pytest.fixture(scope="module")
def hostile_origin(hostile_site: FilledSite) -> Iterator[str]:
    with serve_app(hostile_site.app) as url:
        yield url


@pytest.fixture(scope="module")
def hostile_state(chromium: Any, hostile_origin: str, hostile_site: FilledSite) -> Any:
    return sign_in(chromium, hostile_origin, hostile_site.key)


def store_text(site: FilledSite, text: str) -> None:
    """Put the text into every field. The names of a site's files are as many as there were texts."""
    site.stage.objects._objects.clear()
    fill(site, lambda place: text)


def test_there_are_as_many_different_strings_as_are_said() -> None:
    assert len(set(STRINGS)) == COUNT


@pytest.mark.parametrize("number", range(len(CHUNKS)))
def test_no_hostile_string_is_more_than_text(
    chromium: Any, hostile_site: FilledSite, hostile_origin: str, hostile_state: Any, number: int
) -> None:
    store_text(hostile_site, CHUNKS[number])
    assert look_at_all(chromium, hostile_origin, hostile_state) == {}


@pytest.mark.parametrize("number", range(len(LONG)))
def test_a_text_of_a_megabyte_is_no_more_than_text(
    chromium: Any, hostile_site: FilledSite, hostile_origin: str, hostile_state: Any, number: int
) -> None:
    store_text(hostile_site, LONG[number])
    assert look_at_all(chromium, hostile_origin, hostile_state) == {}


def test_what_watches_sees_markup_that_is_more_than_text(chromium: Any, hostile_origin: str) -> None:
    """The control of the tests above: the same string as markup asks for another origin."""
    with watch(chromium, hostile_origin, None) as seen:
        seen.page.route("**/markup", lambda route: route.fulfill(content_type="text/html", body=CONTROL))
        seen.open("/markup")
        assert seen.foreign == ["https://beacon.example/0"]


def look_at_all(chromium: Any, origin: str, state: Any) -> dict[str, list[str]]:
    """Return what was wrong on each page that something was wrong with."""
    wrong = {}
    with watch(chromium, origin, state) as seen:
        for path in PAGES:
            problems = seen.open(path)
            problems += [f"ran: {what}" for what in seen.page.evaluate("window.__ran")]
            if problems:
                wrong[path] = [problem[:300] for problem in problems[:5]]
    return wrong
