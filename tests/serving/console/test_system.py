"""The system's page and those of jobs: what the API says, and grades of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import httpx

from ferryman.domain.jobs.job import JobStatus
from ferryman.inmemory.clock import START
from ferryman.serving.console.pages.system import examine
from tests.serving.conftest import Stage

from .conftest import Browser
from .readback import find_section, read_numbers

WELL = {"status": "ok"}
ME = {"plan": "pro", "limits": {}, "halted": None}
PLANS = {"plans": [{"name": "free"}, {"name": "pro"}]}
KEYS = {"keys": {"1": "aa"}}


async def test_the_numbers_of_plans_are_those_of_the_api(browser: Browser, client: httpx.AsyncClient) -> None:
    plans = (await client.get("/v1/plans")).json()["plans"]
    numbers = read_numbers(find_section((await browser.open("/console/system")).text, "plans"))
    assert numbers[:3] == [
        str(plans[0][name]) for name in ("credits_per_month", "credits_per_execution", "calls_per_execution")
    ]


def test_what_fits_together_is_well() -> None:
    assert {check.grade for check in examine(WELL, ME, PLANS, KEYS, KEYS)} == {"well"}


def test_what_does_not_is_told() -> None:
    checks = examine(WELL, {"plan": "old", "limits": None, "halted": "by the owner"}, PLANS, {"keys": {}}, KEYS)
    assert [check.grade for check in checks] == ["well", "wrong", "look", "wrong", "well"]


async def test_a_halt_is_seen(browser: Browser, client: httpx.AsyncClient) -> None:
    await client.put("/v1/halt")
    assert 'class="badge look"' in find_section((await browser.open("/console/system")).text, "checks")


async def test_a_job_that_is_under_way_is_asked_for_again(browser: Browser, stage: Stage) -> None:
    stored = stage.memory.jobs["job_ann"]
    for status, is_refreshed in ((JobStatus.RUNNING, True), (JobStatus.DONE, False)):
        ends = START + timedelta(minutes=1) if status is JobStatus.DONE else None
        stage.memory.jobs["job_ann"] = replace(stored, status=status, completed_at=ends)
        page = await browser.open("/console/jobs/job_ann")
        assert (page.status_code, "data-refresh-s" in page.text) == (200, is_refreshed)


async def test_a_job_of_another_owner_is_not_there(browser: Browser) -> None:
    assert (await browser.open("/console/jobs/job_bob")).status_code == 404


async def test_every_job_is_listed(browser: Browser, client: httpx.AsyncClient) -> None:
    jobs = (await client.get("/v1/jobs")).json()["jobs"]
    page = (await browser.open("/console/jobs")).text
    assert all(f"console/jobs/{job['job_id']}" in page for job in jobs)
