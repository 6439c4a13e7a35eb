"""The first run: a template becomes a task, and refusals are shown."""

from __future__ import annotations

import httpx
import pytest

from ferryman.domain.workspaces.member import Role
from ferryman.serving.console.first_tasks import FIRST_TASKS, list_first_tasks
from tests.serving.conftest import Stage

from .conftest import Browser, find_token

PATH = "/console/start"


async def test_the_overview_leads_there_while_there_is_no_task(browser: Browser) -> None:
    assert 'href="console/start"' in (await browser.open("/console")).text


@pytest.mark.parametrize("template", [first.id for first in FIRST_TASKS])
async def test_a_template_becomes_a_task(browser: Browser, client: httpx.AsyncClient, template: str) -> None:
    answer = await browser.send(PATH, {"do": "create", "template": template, "model": "", "once": "once"})
    assert answer.status_code == 303, answer.text
    (task,) = (await client.get("/v1/tasks")).json()["tasks"]
    assert str(answer.url.join(answer.headers["location"]).path) == f"/console/tasks/{task['task_id']}"
    assert task["model"] == f"scripted/{template}"


async def test_the_task_can_be_started_on_its_page(browser: Browser, client: httpx.AsyncClient) -> None:
    answer = await browser.send(PATH, {"do": "create", "template": "hello", "model": "", "once": "once"})
    task = str(answer.url.join(answer.headers["location"]).path)
    started = await browser.send(task, {"do": "start", "once": "again"})
    execution = started.url.join(started.headers["location"]).path.rpartition("/")[2]
    assert (await client.get(f"/v1/executions/{execution}")).status_code == 200


async def test_what_is_no_template_is_refused(browser: Browser) -> None:
    assert (await browser.send(PATH, {"do": "create", "template": "<b>", "model": ""})).status_code == 422


async def test_a_model_that_cannot_be_used_is_said(browser: Browser, client: httpx.AsyncClient) -> None:
    answer = await browser.send(PATH, {"do": "create", "template": "hello", "model": "nothing-1"})
    assert (answer.status_code, 'role="alert"' in answer.text) == (422, True)
    assert (await client.get("/v1/tasks")).json()["tasks"] == []


async def test_who_may_not_make_tasks_is_told_so(browser: Browser, stage: Stage) -> None:
    await browser.sign_in(stage.member(Role.VIEWER)["Authorization"].removeprefix("Bearer "))
    token = find_token((await browser.open(PATH)).text, PATH, PATH)
    form = {"do": "create", "template": "hello", "model": "", "token": token}
    answer = await browser.http.post(PATH, data=form, headers={"Sec-Fetch-Site": "same-origin"})
    assert (answer.status_code, "needs the right manage" in answer.text) == (403, True)


def test_without_a_script_there_is_no_template_that_needs_one() -> None:
    assert [first.id for first in list_first_tasks(["claude-1"])] == ["hello", "report"]
