"""The ledger's page: its numbers are the API's."""

from __future__ import annotations

import csv
import io
from decimal import Decimal

import httpx

from ferryman.domain.credits import ledger
from ferryman.inmemory.clock import START
from tests.builders import build_execution, build_task
from tests.serving.conftest import Stage

from .conftest import Browser
from .readback import find_section, read_numbers


async def test_the_budgets_are_those_of_the_api(browser: Browser, client: httpx.AsyncClient) -> None:
    rows = (await client.get("/v1/budget")).json()["budgets"]
    names = ("credits_used", "credits_reserved", "limit", "credits_left", "percent_used")
    assert rows
    expected = [str(row[name]) for row in rows for name in names if row[name] is not None]
    assert read_numbers(find_section((await browser.open("/console/ledger")).text, "budgets")) == expected


async def test_the_sum_of_postings_is_that_of_the_api(browser: Browser, client: httpx.AsyncClient) -> None:
    statement = (await client.get("/v1/ledger")).json()
    numbers = read_numbers(find_section((await browser.open("/console/ledger?by=agent")).text, "statement"))
    assert numbers[-3:] == [statement["credits"], str(statement["entries"]), statement["sum_of_postings"]]


async def test_what_is_no_month_is_refused_in_the_words_of_the_api(browser: Browser) -> None:
    page = await browser.open("/console/ledger?month=2026-13")
    assert (page.status_code, "month" in page.text) == (422, True)


async def test_the_file_for_a_spreadsheet_runs_nothing(browser: Browser, stage: Stage) -> None:
    stage.memory.tasks["task_one"] = build_task(
        id="task_one", owner="ann", name='=HYPERLINK("https://evil.test")', model="scripted"
    )
    execution = build_execution(id="exec_one", owner="ann", task="task_one")
    entry = ledger.record_reservation(execution, Decimal(100), at=START)
    stage.memory.entries[entry.id] = entry
    answer = await browser.open("/console/ledger/export?by=task")
    rows = list(csv.reader(io.StringIO(answer.text, newline="")))
    assert rows[1][:2] == ["task_one", '\'=HYPERLINK("https://evil.test")']
    assert answer.headers["content-disposition"] == 'attachment; filename="ledger-2026-11-task.csv"'


async def test_what_is_no_month_exports_nothing(browser: Browser) -> None:
    answer = await browser.open('/console/ledger/export?month=2026-1"')
    assert (answer.status_code, "content-disposition" in answer.headers) == (422, False)


async def test_alerts_are_those_of_the_api(browser: Browser, client: httpx.AsyncClient) -> None:
    alerts = (await client.get("/v1/alerts")).json()["alerts"]
    section = find_section((await browser.open("/console/ledger")).text, "alerts")
    assert all(f'value="{alert["credits_used"]}"' in section for alert in alerts)
    assert ("There is no alert: no limit is half used." in section) == (not alerts)


async def test_the_alerts_of_the_plan_are_the_owners_alone(browser: Browser, stage: Stage) -> None:
    assert (await browser.open("/console/ledger?of=plan")).status_code == 200
    await browser.sign_in(stage.member()["Authorization"].removeprefix("Bearer "))
    assert (await browser.open("/console/ledger?of=plan")).status_code == 403
