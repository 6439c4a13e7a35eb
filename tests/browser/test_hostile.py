"""Hostile strings in every field that others write: on no page does anything run, load, leave, or become an element."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from ferryman.serving.console.pages import ROUTES
from tests.browser.conftest import sign_in, watch
from tests.browser.filled_site import DENIED, EXECUTION, LIMITS, RUNNING, FilledSite, build_site, fill, read_ordinary
from tests.browser.foreign_fields import TABLE
from tests.browser.hostile_strings import COUNT, LONG, STRINGS, cut_chunks
from tests.browser.visits import Watch, list_paths
from tests.serve import serve_app

CHUNKS = cut_chunks(1_900)
"""The length up to which a page shows a foreign text whole, so that no string is cut away."""

MORE = [
    f"/console/approvals/{DENIED}",
    f"/console/executions/{RUNNING}",
    "/console/executions/exec_failed",
    f"/console/executions/{EXECUTION}/calls/4",
    "/console/conversations/conv_ann/messages/1",
]
"""Pages of other states than the samples of `visits`."""

PAGES = [*(path for path in list_paths() if not path.endswith("/sign-in")), *MORE]
CONTROL = "<img src=https://beacon.example/0 onerror=window.__ran.push(0)><form id=main name=main></form>"
ELEMENTS = """() => {
  const tags = "script,style,link,meta,base,form,button,input,select,textarea,iframe,object,embed,img,video,audio,h1,h2,nav";
  const all = tags.split(",").map((tag) => [tag, document.getElementsByTagName(tag).length]);
  const named = [...document.querySelectorAll("[id], [name]")];
  const names = named.map((e) => `${e.tagName} ${e.id} ${e.getAttribute("name") ?? ""}`);
  return { ...Object.fromEntries(all), names: [...new Set(names)].sort() };
}"""
"""What a page is made of, but for texts, links and tables: hostile texts add nothing to it, and take nothing away."""

LOADING = ("script", "style", "link", "meta", "base", "iframe", "object", "embed", "img", "video", "audio")
"""Elements that run or load something. Pages of long texts have more links and buttons, which lead to all of a text."""

TEXTS = """() => {
  const fields = [...document.querySelectorAll("input, textarea")];
  return [document.body.textContent, ...fields.map((e) => e.value)].join(" ");
}"""


@pytest.fixture(scope="module")
def hostile_site() -> FilledSite:
    return build_site()


@pytest.fixture(scope="module")
def hostile_watch(chromium: Any, hostile_site: FilledSite) -> Iterator[Watch]:
    """The record of the one browser page that visits all pages of the site."""
    with serve_app(hostile_site.app) as origin:
        state = sign_in(chromium, origin, hostile_site.key)
        with watch(chromium, origin, state) as seen:
            yield seen


@pytest.fixture(scope="module")
def ordinary_elements(hostile_site: FilledSite, hostile_watch: Watch) -> dict[str, Any]:
    """The elements of each page when every text is ordinary."""
    store_texts(hostile_site, read_ordinary)
    elements = {}
    for path in PAGES:
        hostile_watch.open(path)
        elements[path] = hostile_watch.page.evaluate(ELEMENTS)
    return elements


def store_texts(site: FilledSite, texts: Any) -> None:
    """Put texts into every field. The names of a site's files are as many as there were texts."""
    objects = site.stage.objects._objects
    for key in [key for key in objects if not key.endswith("/notes.md")]:
        del objects[key]
    fill(site, texts)


def test_there_are_as_many_different_strings_as_are_said() -> None:
    assert len(set(STRINGS)) == COUNT


def test_every_text_is_on_the_pages_that_the_table_says(hostile_site: FilledSite, hostile_watch: Watch) -> None:
    """The control of the tests below: a text that no page shows would harm none."""
    store_texts(hostile_site, lambda place: f"mark-{place}-mark")
    missing = []
    for row in TABLE:
        for page in filter(is_known, row.pages.split()):
            problems = hostile_watch.open(page)
            if problems or f"mark-{row.place}-mark" not in hostile_watch.page.evaluate(TEXTS):
                missing.append((row.place, page, problems))
    assert missing == []


@pytest.mark.parametrize("number", range(len(CHUNKS)))
def test_no_hostile_string_is_more_than_text(
    hostile_site: FilledSite, hostile_watch: Watch, ordinary_elements: dict[str, Any], number: int
) -> None:
    store_texts(hostile_site, lambda place: CHUNKS[number])
    assert look_at_all(hostile_watch, ordinary_elements) == {}


@pytest.mark.parametrize("number", range(len(LONG)))
def test_a_text_of_a_megabyte_is_no_more_than_text(
    hostile_site: FilledSite, hostile_watch: Watch, ordinary_elements: dict[str, Any], number: int
) -> None:
    """A text is as long as its field takes; those of models and upstreams are a megabyte."""
    store_texts(hostile_site, lambda place: LONG[number][: LIMITS.get(place)])
    loading = {path: {name: elements[name] for name in LOADING} for path, elements in ordinary_elements.items()}
    assert look_at_all(hostile_watch, loading) == {}


def test_what_watches_sees_markup_that_is_more_than_text(chromium: Any, hostile_watch: Watch) -> None:
    """Another control: the same string as markup asks for another origin, and adds a form."""
    with watch(chromium, hostile_watch.origin, None) as seen:
        seen.page.route("**/markup", lambda route: route.fulfill(content_type="text/html", body=CONTROL))
        seen.open("/markup")
        assert (seen.foreign, seen.page.evaluate(ELEMENTS)["names"]) == (["https://beacon.example/0"], ["FORM main main"])


def is_known(page: str) -> bool:
    """Return whether a route of the console is the page's."""
    return any(re.fullmatch(re.sub(r"\{[a-z_]+(:path)?\}", "[^/]+", route.path), page) for route in ROUTES)


def look_at_all(seen: Watch, ordinary_elements: dict[str, Any]) -> dict[str, list[str]]:
    """Return what was wrong on each page that something was wrong with."""
    wrong = {}
    for path in PAGES:
        problems = seen.open(path)
        problems += [f"ran: {what}" for what in seen.page.evaluate("window.__ran")]
        elements = seen.page.evaluate(ELEMENTS)
        problems += [
            f"{name}: {elements[name]}, not {count}"
            for name, count in ordinary_elements[path].items()
            if elements[name] != count
        ]
        if problems:
            wrong[path] = [problem[:300] for problem in problems[:5]]
    return wrong
