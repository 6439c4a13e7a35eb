"""What the scripts of pages do with what should never come, and when somebody signs out elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser.filled_site import APPROVAL, FilledSite

from .conftest import sign_in

IMPORT = "import(document.querySelector('script[src$=\"console.js\"]').src)"

REFUSED = [
    ["script", {}, ["window.hurt = 1"]],
    ["iframe", {"src": "https://evil.test/"}, []],
    ["img", {"src": "https://evil.test/"}, []],
    ["object", {"data": "https://evil.test/"}, []],
    ["style", {}, ["* { display: none }"]],
    ["link", {"rel": "stylesheet", "href": "https://evil.test/"}, []],
    ["use", {"href": "https://evil.test/#a"}, []],
    ["foreignObject", {}, []],
]
"""Trees of elements that no page has."""

PLAIN = [
    ["a", {"href": "javascript:window.hurt = 1"}, ["x"]],
    ["a", {"href": " javascript:window.hurt = 1"}, ["x"]],
    ["a", {"href": "data:text/html,x"}, ["x"]],
    ["p", {"onclick": "window.hurt = 1", "style": "position: fixed"}, ["x"]],
    ["button", {"formaction": "https://evil.test/"}, ["x"]],
    ["a", {"ping": "https://evil.test/", "srcdoc": "x", "is": "x"}, ["x"]],
    ["input", {"form": "other", "onfocus": "window.hurt = 1"}, []],
]
"""Trees whose attributes are none of a page."""


@pytest.fixture
def page(chromium: Any, origin: str, state: Any) -> Iterator[Any]:
    """The overview."""
    context = chromium.new_context(storage_state=state)
    page = context.new_page()
    page.goto(f"{origin}/console")
    yield page
    context.close()


@pytest.mark.parametrize("tree", REFUSED, ids=[tree[0] for tree in REFUSED])
def test_no_tree_becomes_an_element_that_loads_or_runs(page: Any, tree: Any) -> None:
    built = page.evaluate(f"{IMPORT}.then(({{ build }}) => build({json.dumps(tree)})).then(() => 'built', () => 'refused')")
    assert built == "refused"


@pytest.mark.parametrize("tree", PLAIN, ids=[" ".join(tree[1]) for tree in PLAIN])
def test_no_tree_gives_an_element_what_runs_or_leads_elsewhere(page: Any, tree: Any) -> None:
    names = page.evaluate(f"{IMPORT}.then(({{ build }}) => build({json.dumps(tree)}).getAttributeNames())")
    assert names == []


def test_a_page_says_that_it_shows_what_was_once_its_session_is_over(chromium: Any, origin: str, site: FilledSite) -> None:
    context = chromium.new_context(storage_state=sign_in(chromium, origin, site.key))
    page, other = context.new_page(), context.new_page()
    page.goto(f"{origin}/console")
    other.goto(f"{origin}/console")
    other.get_by_role("button", name="Sign out").click()
    other.wait_for_url("**/console/sign-in*")
    assert page.evaluate(f"{IMPORT}.then(({{ refresh }}) => refresh([]))") is False
    assert "You are signed out" in page.get_by_role("alert").inner_text()
    context.close()


def test_enter_in_a_field_decides_about_no_call(page: Any, origin: str) -> None:
    page.goto(f"{origin}/console/approvals/{APPROVAL}")
    assert [button.inner_text() for button in page.locator("form.decision button:visible").all()] == ["Approve", "Deny"]
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.method))
    page.fill("input[name=reason]", "No.")
    page.press("input[name=reason]", "Enter")
    page.evaluate("fetch('/healthz').then((answer) => answer.text())")  # a form that was sent would be under way before
    assert "POST" not in sent
