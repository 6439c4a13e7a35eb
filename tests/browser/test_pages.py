"""Every page of the console, as its routes name them: a page is tested here by being there."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.conftest import THEMES, WIDTHS, take_picture, watch
from tests.browser.visits import REQUESTS_MAX, list_paths

PAGES = list_paths()
CONTROLS = """() => {
  const known = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']";
  const isSeen = (e) => !e.disabled && e.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true });
  window.__controls = [...document.querySelectorAll(known)].filter(isSeen);
  return window.__controls.length;
}"""
FOCUSED = """() => {
  const element = document.activeElement;
  const style = getComputedStyle(element);
  const isSeen = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
  return [window.__controls.indexOf(element), isSeen, element.outerHTML.slice(0, 100)];
}"""
DESCRIBE = "(index) => window.__controls[index].outerHTML.slice(0, 120)"
READ = """() => {
  const main = document.querySelector("main").cloneNode(true);
  for (const time of main.querySelectorAll("time")) time.textContent = time.dateTime;
  const headings = [...main.querySelectorAll("h1, h2, h3")].map((e) => e.textContent.trim());
  const data = [...main.querySelectorAll("data")].map((e) => e.value);
  return { headings, data };
}"""


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("theme", THEMES)
def test_a_page_is_fit_for_everybody(chromium: Any, origin: str, state: Any, path: str, theme: str, width: int) -> None:
    with watch(chromium, origin, state, width=width, color_scheme=theme) as seen:
        problems = seen.open(path)
        problems += seen.measure_layout()
        take_picture(seen.page, path, f"{theme}-{width}")
        assert problems + seen.find_violations() == []


@pytest.mark.parametrize("path", PAGES)
def test_a_page_without_content_is_fit_for_everybody(chromium: Any, empty_origin: str, empty_state: Any, path: str) -> None:
    if any(part in path for part in ("_", "/COINGECKO", "notes.md")):
        pytest.skip("there is nothing with this id on the first day")
    with watch(chromium, empty_origin, empty_state, width=360) as seen:
        problems = seen.open(path)
        problems += seen.measure_layout()
        take_picture(seen.page, path, "empty")
        assert problems + seen.find_violations() == []


@pytest.mark.parametrize("path", PAGES)
def test_every_control_is_reached_by_the_keyboard_and_seen(chromium: Any, origin: str, state: Any, path: str) -> None:
    with watch(chromium, origin, state) as seen:
        seen.open(path)
        seen.page.evaluate("document.body.focus()")
        count = seen.page.evaluate(CONTROLS)
        reached, unseen = set(), []
        for _ in range(count + 5):
            seen.page.keyboard.press("Tab")
            index, is_seen, markup = seen.page.evaluate(FOCUSED)
            reached.add(index)
            if index >= 0 and not is_seen:
                unseen.append(markup)
        # of buttons of one choice, the keyboard reaches one
        missed = [seen.page.evaluate(DESCRIBE, index) for index in range(count) if index not in reached]
        assert ([markup for markup in missed if 'type="radio"' not in markup], unseen) == ([], [])


@pytest.mark.parametrize("path", PAGES)
def test_without_a_script_a_page_says_the_same(chromium: Any, origin: str, state: Any, path: str) -> None:
    with watch(chromium, origin, state) as seen:
        seen.open(path)
        with_script = seen.page.evaluate(READ)
    with watch(chromium, origin, state, java_script_enabled=False) as plain:
        plain.page.goto(origin + path)
        assert plain.page.evaluate(READ) == with_script


@pytest.mark.parametrize("path", PAGES)
def test_nothing_moves_for_those_who_want_no_motion(chromium: Any, origin: str, state: Any, path: str) -> None:
    with watch(chromium, origin, state, reduced_motion="reduce") as seen:
        seen.open(path)
        assert seen.page.evaluate("document.getAnimations().length") == 0


@pytest.mark.parametrize("path", PAGES)
def test_a_first_visit_takes_few_requests(chromium: Any, origin: str, state: Any, path: str) -> None:
    with watch(chromium, origin, state) as seen:
        seen.open(path)
        requests = [url for url in seen.requests if not url.endswith("/live")]
        assert len(requests) <= REQUESTS_MAX, requests
