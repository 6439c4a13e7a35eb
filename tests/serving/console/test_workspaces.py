"""Workspaces in the console: where a session acts, what a link into another one leads to, and what the forms change."""

from __future__ import annotations

import httpx
import pytest

from tests.builders import build_execution, build_task
from tests.serving.conftest import Stage

from .conftest import Browser, find_token

PATH = "/console/workspaces"


@pytest.fixture
async def other(client: httpx.AsyncClient) -> str:
    """The id of another workspace of ann's."""
    return str((await client.post("/v1/workspaces", json={"name": "<b>second</b>"})).json()["workspace_id"])


async def choose(browser: Browser, workspace: str, **fields: str) -> httpx.Response:
    return await browser.send(PATH, {"do": "choose", "id": workspace, **fields})


async def test_a_session_acts_in_the_workspace_that_was_chosen(browser: Browser, stage: Stage, other: str) -> None:
    where = {"owner": "ann", "workspace": other}
    stage.memory.tasks["task_there"] = build_task(**where, id="task_there", name="There", model="scripted")
    assert "task_there" not in (await browser.open("/console/tasks")).text
    assert (await choose(browser, other)).headers["location"].endswith("?done=workspace")
    page = (await browser.open("/console/tasks")).text
    assert "task_there" in page
    assert "&lt;b&gt;second&lt;/b&gt;</a>" in page


async def test_it_goes_back_to_the_default_one(browser: Browser, client: httpx.AsyncClient, other: str) -> None:
    await choose(browser, other)
    default = next(item for item in (await client.get("/v1/workspaces")).json()["workspaces"] if item["is_default"])
    await choose(browser, default["workspace_id"])
    assert "Default workspace</a>" in (await browser.open("/console")).text


async def test_the_page_that_was_asked_for_comes_next_and_no_other_site(browser: Browser, other: str) -> None:
    assert "/executions/exec_1?" in (await choose(browser, other, next="/console/executions/exec_1")).headers["location"]
    answer = await choose(browser, other, next="https://evil.test/console")
    assert str(answer.url.join(answer.headers["location"])) == "https://testserver/console?done=workspace"


async def test_a_workspace_of_another_owner_is_none(browser: Browser, stage: Stage) -> None:
    stage.owner("bob")
    answer = await choose(browser, stage.memory.tasks["task_bob"].workspace if "task_bob" in stage.memory.tasks else "ws_bob")
    assert answer.status_code == 404


async def test_a_member_acts_nowhere_else(browser: Browser, stage: Stage, other: str) -> None:
    await browser.sign_in(stage.member()["Authorization"].removeprefix("Bearer "))
    token = find_token((await browser.open("/console/sessions")).text, "/console/sessions", "/console/sessions")
    assert "/workspaces" not in (await browser.open("/console")).text.split("</header>")[0]
    session = browser.http.cookies["__Host-ferryman"].split(".")[1]
    before = stage.memory.console_sessions[session].workspace
    form = {"do": "choose", "id": other, "token": token}
    assert (await browser.http.post(PATH, data=form, headers={"Sec-Fetch-Site": "same-origin"})).status_code == 403
    assert stage.memory.console_sessions[session].workspace == before


@pytest.mark.parametrize("noun", ["executions", "tasks"])
async def test_a_link_into_another_workspace_says_where_it_leads(browser: Browser, stage: Stage, other: str, noun: str) -> None:
    where = {"owner": "ann", "workspace": other}
    stage.memory.tasks["there"] = build_task(**where, id="there", model="scripted")
    stage.memory.executions["there"] = build_execution(**where, id="there", task="there")
    page = await browser.open(f"/console/{noun}/there")
    assert (page.status_code, "is in the workspace" in page.text, "&lt;b&gt;second" in page.text) == (404, True, True)
    await browser.send(PATH, {"do": "choose", "id": other}, page=f"/console/{noun}/there")
    assert (await browser.open(f"/console/{noun}/there")).status_code == 200


async def test_what_belongs_to_another_owner_is_in_no_workspace(browser: Browser, stage: Stage, other: str) -> None:
    stage.owner("bob")
    stage.memory.tasks["hers"] = build_task(owner="bob", id="hers", model="scripted")
    page = await browser.open("/console/tasks/hers")
    assert (page.status_code, "is in the workspace" in page.text) == (404, False)


async def test_a_session_in_a_workspace_that_is_gone_finds_the_way_out(browser: Browser, stage: Stage, other: str) -> None:
    await choose(browser, other)
    del stage.memory.workspaces[other]
    lost = await browser.open("/console/tasks")
    assert (lost.status_code, "../console/workspaces" in lost.text) == (404, True)
    assert (await browser.open(PATH)).status_code == 200


async def test_a_workspace_is_created_and_changed(browser: Browser, client: httpx.AsyncClient) -> None:
    created = await browser.send(PATH, {"do": "create", "name": "Third", "once": "once"})
    page = str(created.url.join(created.headers["location"]).path)
    saved = await browser.send(page, {"do": "change", "name": "Fourth", "max_credits_month": "500", "approvals": "[]"})
    assert saved.status_code == 303
    stored = (await client.get(f"/v1/workspaces/{page.rpartition('/')[2]}")).json()
    assert (stored["name"], stored["max_credits_month"]) == ("Fourth", "500")


async def test_what_is_wrong_is_said_beside_its_field(browser: Browser, other: str) -> None:
    page = await browser.send(f"{PATH}/{other}", {"do": "change", "name": "x" * 1000, "approvals": "[]"})
    assert (page.status_code, 'aria-invalid="true"' in page.text) == (422, True)


async def test_the_secret_of_alerts_is_shown_once(browser: Browser, other: str) -> None:
    form = {"do": "change", "name": "Second", "alert_url": "https://hooks.example.com/alerts", "approvals": "[]"}
    assert "shown only once" in (await browser.send(f"{PATH}/{other}", form)).text
    assert "shown only once" not in (await browser.open(f"{PATH}/{other}")).text


async def test_nothing_is_deleted_before_the_box_is_ticked(browser: Browser, client: httpx.AsyncClient, other: str) -> None:
    assert (await browser.send(f"{PATH}/{other}", {"do": "delete"})).status_code == 422
    assert (await client.get(f"/v1/workspaces/{other}")).status_code == 200
    assert "/jobs/" in (await browser.send(f"{PATH}/{other}", {"do": "delete", "sure": "true"})).headers["location"]
    assert (await client.get(f"/v1/workspaces/{other}")).status_code == 404


async def test_a_workspace_is_archived_and_restored(browser: Browser, client: httpx.AsyncClient, other: str) -> None:
    for do, state in (("archive", "archived"), ("restore", "active")):
        await browser.send(f"{PATH}/{other}", {"do": do, "sure": "true"})
        assert (await client.get(f"/v1/workspaces/{other}")).json()["state"] == state
