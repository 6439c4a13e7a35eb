"""Every page of the console, as its routes name them: a page is tested here by being there.

A page is opened a few times for all tests about it, so these are run by the same worker.
"""

from __future__ import annotations

import pytest

from tests.browser.inspection import Inspector
from tests.browser.visits import REQUESTS_MAX, list_paths

PAGES = [pytest.param(path, marks=pytest.mark.xdist_group(path)) for path in list_paths()]

pytestmark = pytest.mark.parametrize("path", PAGES)


def test_a_page_opens_without_an_error_fits_the_screen_and_never_shifts(inspector: Inspector, path: str) -> None:
    assert inspector.inspect(path).problems == []


def test_axe_finds_nothing_in_both_themes_on_wide_and_narrow_screens(inspector: Inspector, path: str) -> None:
    assert inspector.inspect(path).violations == []


def test_every_control_is_reached_by_the_keyboard(inspector: Inspector, path: str) -> None:
    assert inspector.inspect(path).missed == []


def test_the_focus_is_seen_at_every_stop(inspector: Inspector, path: str) -> None:
    assert inspector.inspect(path).unseen == []


def test_without_a_script_a_page_says_the_same(inspector: Inspector, path: str) -> None:
    inspection = inspector.inspect(path)
    assert inspection.plain_content == inspection.content


def test_nothing_moves_for_those_who_want_no_motion(inspector: Inspector, path: str) -> None:
    assert inspector.inspect(path).animations == 0


def test_a_visit_takes_few_requests(inspector: Inspector, path: str) -> None:
    requests = inspector.inspect(path).requests
    assert len(requests) <= REQUESTS_MAX, requests


def test_a_page_without_content_is_fit_for_everybody(empty_inspector: Inspector, path: str) -> None:
    if any(part in path for part in ("_", "/COINGECKO", "notes.md")):
        pytest.skip("there is nothing with this id on the first day")
    inspection = empty_inspector.inspect_narrow(path)
    assert inspection.problems + inspection.violations == []
