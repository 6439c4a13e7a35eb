"""The overview: its numbers are the API's, and its one switch stops everything."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
from hypothesis import given
from hypothesis import strategies as st

from ferryman.serving.console.plot import HEIGHT, build_plot
from tests.serving.conftest import TASK, Stage

from .conftest import Browser, find_token
from .readback import find_section, read_numbers


async def start(client: httpx.AsyncClient) -> str:
    task = (await client.post("/v1/tasks", json=TASK)).json()["task_id"]
    return str((await client.post(f"/v1/tasks/{task}/executions")).json()["execution_id"])


async def test_its_numbers_are_those_of_the_api(browser: Browser, client: httpx.AsyncClient) -> None:
    me = (await client.get("/v1/me")).json()
    numbers = read_numbers(find_section((await browser.open("/console")).text, "numbers"))
    assert numbers == ["0", "0", "0", me["credits_used"], me["credits_left"]]


async def test_who_has_no_task_is_led_to_the_first_one(browser: Browser, client: httpx.AsyncClient) -> None:
    assert 'id="first"' in (await browser.open("/console")).text
    await client.post("/v1/tasks", json=TASK)
    assert 'id="first"' not in (await browser.open("/console")).text


async def test_a_schedule_fires_next(browser: Browser, client: httpx.AsyncClient) -> None:
    body = {**TASK, "name": "<b>nightly</b>", "schedule": {"type": "cron", "cron": "0 3 * * *"}}
    task = (await client.post("/v1/tasks", json=body)).json()
    section = find_section((await browser.open("/console")).text, "next")
    assert "&lt;b&gt;nightly" in section
    assert f'datetime="{task["next_fire_at"]}"' in section


async def test_halt_stops_the_owner_and_release_ends_it(browser: Browser, client: httpx.AsyncClient) -> None:
    assert (await browser.send("/console", {"do": "halt"})).headers["location"].endswith("?done=halted")
    assert (await client.get("/v1/me")).json()["halted"]
    await browser.send("/console", {"do": "release"})
    assert (await client.get("/v1/me")).json()["halted"] is None


async def test_a_member_has_no_switch_and_may_not_send_its_form(
    browser: Browser, client: httpx.AsyncClient, stage: Stage
) -> None:
    await browser.sign_in(stage.member()["Authorization"].removeprefix("Bearer "))
    page = (await browser.open("/console")).text
    assert 'value="halt"' not in page
    token = find_token(page, "/console", "/console")
    answer = await browser.http.post("/console", data={"do": "halt", "token": token}, headers={"Sec-Fetch-Site": "same-origin"})
    assert (answer.status_code, (await client.get("/v1/me")).json()["halted"]) == (403, None)


async def test_only_what_changes_is_asked_for_again(browser: Browser) -> None:
    answer = await browser.open("/console", **{"Ferryman-Parts": "numbers,running,spent"})
    assert set(answer.json()["parts"]) == {"numbers", "running"}


async def test_what_failed_a_day_ago_is_not_in_the_list(browser: Browser, client: httpx.AsyncClient, stage: Stage) -> None:
    await start(client)
    stage.clock.turn(timedelta(hours=11))
    assert "Nothing failed." in find_section((await browser.open("/console")).text, "failed")


CREDITS = st.decimals(min_value=0, max_value=10**6, places=4).map(str)


@given(spent=st.dictionaries(st.integers(1, 30), CREDITS))
def test_the_plot_has_every_day_and_exactly_the_credits_of_the_report(spent: dict[int, str]) -> None:
    rows: list[dict[str, Any]] = [{"name": f"2026-11-{day:02}", "counts": {"credits": amount}} for day, amount in spent.items()]
    plot = build_plot({"since": "2026-11-01", "until": "2026-11-30", "rows": rows})
    assert [bar.credits for bar in plot.bars] == [spent.get(day, "0") for day in range(1, 31)]
    assert all(0 <= bar.height <= HEIGHT - 4 and bar.y + bar.height == HEIGHT for bar in plot.bars)
    assert all((bar.height > 0) == (float(bar.credits) > 0) for bar in plot.bars)
