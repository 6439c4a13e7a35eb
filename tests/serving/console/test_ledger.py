"""The ledger's page: its numbers are the API's."""

from __future__ import annotations

import httpx

from .conftest import Browser
from .readback import find_section, read_numbers


async def test_the_budgets_are_those_of_the_api(browser: Browser, client: httpx.AsyncClient) -> None:
    rows = (await client.get("/v1/budget")).json()["budgets"]
    names = ("credits_used", "credits_reserved", "limit", "credits_left")
    assert rows
    expected = [row[name] for row in rows for name in names if row[name] is not None]
    assert read_numbers(find_section((await browser.open("/console/ledger")).text, "budgets")) == expected


async def test_the_sum_of_postings_is_that_of_the_api(browser: Browser, client: httpx.AsyncClient) -> None:
    statement = (await client.get("/v1/ledger")).json()
    numbers = read_numbers(find_section((await browser.open("/console/ledger?by=agent")).text, "statement"))
    assert numbers[-3:] == [statement["credits"], str(statement["entries"]), statement["sum_of_postings"]]


async def test_what_is_no_month_is_refused_in_the_words_of_the_api(browser: Browser) -> None:
    page = await browser.open("/console/ledger?month=2026-13")
    assert (page.status_code, "month" in page.text) == (422, True)
