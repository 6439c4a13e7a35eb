"""Every number on every page is one that the API answered to that page, and what the page promises to show is there.

A page is tested here by being there: without a row in `PROMISED` it fails.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator

import httpx
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from ferryman.serving.console.pages import ROUTES
from tests.browser.filled_site import build_site
from tests.browser.visits import NOT_PAGES, fill_path

from .conftest import Browser
from .numbers_of_pages import DERIVED, PROMISED
from .readback import read_main, read_numbers
from .varied_answers import AnswerRecord, VariedAnswers, list_leaves

PAGES = sorted(route.path for route in ROUTES if route.path.rpartition("/")[2] not in NOT_PAGES)
FIRST_MIN = 1_000
"""Numbers below it are of a page's own sentences, or say which call or message is meant."""

ID = re.compile(r"/(?:[a-z0-9]+_[a-z_]+|[0-9]+)(?=/|$)", re.ASCII)
"""An id of the filled site in a path of the API."""


class Site:
    """A console with one of everything in it, whose API answers with the numbers that a test chooses."""

    def __init__(self, browser: Browser, record: AnswerRecord, runner: asyncio.Runner) -> None:
        self.browser, self.record, self.runner = browser, record, runner

    def __repr__(self) -> str:
        return "the site"  # and not all that it answered

    def open(self, path: str, first: int, step: int) -> httpx.Response:
        self.record.begin(first, step)
        return self.runner.run(self.browser.open(fill_path(path)))


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    filled, record = build_site(), AnswerRecord()
    filled.app.add_middleware(VariedAnswers, record=record)
    with asyncio.Runner() as runner:
        http = httpx.AsyncClient(transport=httpx.ASGITransport(filled.app), base_url="https://testserver")
        browser = Browser(http=http)
        assert runner.run(browser.sign_in(filled.key)).status_code == 303
        yield Site(browser, record, runner)
        runner.run(http.aclose())


@pytest.mark.parametrize("path", PAGES)
@settings(max_examples=3, phases=[Phase.generate], suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=st.integers(FIRST_MIN, 10**9), step=st.integers(1, 10**6))
def test_the_numbers_of_a_page_are_the_apis(site: Site, path: str, first: int, step: int) -> None:
    page = site.open(path, first, step)
    assert page.status_code == 200, page.text
    answers, numbers = site.record.answers, read_numbers(page.text)
    sentences, fields = read_main(page.text)
    leaves = [
        (" ".join([ID.sub("/*", api_path), *place]), value)
        for api_path, _, body in answers
        for place, value in list_leaves(body)
    ]
    known = {value for _, value in leaves}
    # calls are numbered from 0, and people count from 1
    known |= {str(int(value) + 1) for place, value in leaves if place.endswith(" seq")}
    derived = known | {str(number) for number in DERIVED.get(path, lambda _: [])(answers)}
    assert [number for number in numbers if number not in derived] == [], "not the API's"
    assert [number for number in sentences if float(number) >= FIRST_MIN and number not in derived] == [], "not the API's"
    seen = {*numbers, *sentences, *fields}
    candidates = sorted({place for place, value in leaves if value in seen and value.replace(".", "").isdigit()})
    assert path in PROMISED, f"name in PROMISED (numbers_of_pages.py) which of these the page is to show: {candidates}"
    missing = {place for place, value in leaves if place in PROMISED[path] and value not in seen}
    assert missing == set(), "not on the page"
    assert set(PROMISED[path]) - {place for place, _ in leaves} == set(), "never answered"
