"""The pages of tasks: what the API says of them, and what their forms do."""

from __future__ import annotations

import re
from dataclasses import replace

import httpx
import pytest

from ferryman.domain.tasks.task import Task
from tests.builders import build_task
from tests.serving.conftest import Stage

from .conftest import Browser

PATH = "/console/tasks/task_one"


@pytest.fixture(autouse=True)
def _store_task(stage: Stage) -> None:
    stage.owner("ann")
    stage.memory.tasks["task_one"] = build_task(id="task_one", owner="ann", name="<b>reports</b>", model="scripted")


def _read_stored(stage: Stage) -> Task:
    return stage.memory.tasks["task_one"]


async def _read_form(browser: Browser) -> dict[str, str]:
    """Return what the form of the fields has typed in it: sent as it is, it changes nothing."""
    markup = (await browser.open(PATH)).text
    form = markup[markup.index("<h2>Settings</h2>") :]
    fields = dict(re.findall(r'<input id="f-[^"]*" name="([^"]*)" type="text" value="([^"]*)"', form))
    fields |= dict(re.findall(r'<textarea id="f-([^"]*)"[^>]*>\n([^<]*)</textarea>', form))
    for name, options in re.findall(r'<select id="f-([^"]*)".*?>(.*?)</select>', form, re.DOTALL):
        fields[name] = (re.findall(r'value="([^"]*)" selected', options) or [""])[0]
    fields["enabled"] = "true"
    return {name: text.replace("&lt;", "<").replace("&gt;", ">").replace("&#34;", '"') for name, text in fields.items()}


async def test_the_list_names_a_task_as_text(browser: Browser) -> None:
    assert "&lt;b&gt;reports&lt;/b&gt;" in (await browser.open("/console/tasks")).text


async def test_a_form_that_is_sent_as_it_is_changes_nothing(browser: Browser, stage: Stage) -> None:
    before = _read_stored(stage)
    sent = await browser.send(PATH, {**await _read_form(browser), "do": "change"})
    assert (sent.status_code, _read_stored(stage)) == (303, before), sent.text


async def test_a_field_that_was_changed_is_stored(browser: Browser, stage: Stage) -> None:
    await browser.send(PATH, {**await _read_form(browser), "description": "every day", "do": "change"})
    assert _read_stored(stage).description == "every day"


async def test_what_is_wrong_is_beside_its_field_and_what_was_typed_stays(browser: Browser) -> None:
    page = await browser.send(PATH, {**await _read_form(browser), "max_tokens": "many", "do": "change"})
    assert page.status_code == 422
    assert re.search(r'name="max_tokens" type="text" value="many" aria-invalid="true"', page.text)


async def test_text_that_is_no_json_names_its_field(browser: Browser) -> None:
    page = await browser.send(PATH, {**await _read_form(browser), "approvals": "[", "do": "change"})
    assert "<b>approvals</b> must be JSON; it is not at line 1, column 2" in page.text


async def test_a_new_task_is_stored(browser: Browser, stage: Stage) -> None:
    fields = {"name": "second", "task_prompt": "go", "model": "scripted", "webhook_match": "host", "tool_loading": "all"}
    sent = await browser.send("/console/tasks/new", {**fields, "enabled": "true", "do": "create"})
    assert sent.status_code == 303, sent.text
    assert "second" in {task.name for task in stage.memory.tasks.values()}


async def test_a_task_is_turned_off(browser: Browser, stage: Stage) -> None:
    await browser.send(PATH, {"do": "off"})
    assert not _read_stored(stage).enabled


async def test_a_task_is_started(browser: Browser, stage: Stage) -> None:
    sent = await browser.send(PATH, {"do": "start"})
    assert "/console/executions/exec_" in sent.headers["location"], sent.text


async def test_nothing_is_deleted_before_the_box_is_ticked(browser: Browser, stage: Stage) -> None:
    assert (await browser.send(PATH, {"do": "delete"})).status_code == 422
    assert "task_one" in stage.memory.tasks


async def test_a_task_is_deleted(browser: Browser, stage: Stage) -> None:
    await browser.send(PATH, {"do": "delete", "sure": "true"})
    assert "task_one" not in stage.memory.tasks


async def test_a_task_of_another_owner_is_not_there(browser: Browser, stage: Stage) -> None:
    stage.memory.tasks["task_two"] = build_task(id="task_two", owner="bob")
    assert (await browser.open("/console/tasks/task_two")).status_code == 404


async def test_a_form_of_a_task_whose_agent_is_archived_selects_that_agent(browser: Browser, stage: Stage) -> None:
    stage.memory.agents["agent_ann"] = replace(stage.memory.agents["agent_ann"], archived=True)
    stage.memory.tasks["task_one"] = replace(_read_stored(stage), agent="agent_ann")
    before = _read_stored(stage)
    assert (await _read_form(browser))["agent_id"] == "agent_ann"
    sent = await browser.send(PATH, {**await _read_form(browser), "do": "change"})
    assert (sent.status_code, _read_stored(stage)) == (303, before), sent.text


async def test_the_next_moments_of_a_schedule_are_shown(browser: Browser, client: httpx.AsyncClient) -> None:
    schedule = {"type": "cron", "cron": "0 9 * * *"}
    answer = await client.patch("/v1/tasks/task_one", json={"schedule": schedule})
    assert answer.status_code == 200, answer.text
    moments = re.findall(r'<time datetime="([^"]*)"', (await browser.open(PATH)).text.split("Changed")[0])
    assert [moment[:16] for moment in moments] == [f"2026-11-{day}T09:00" for day in (22, 23, 24, 25, 26)]


async def test_what_an_execution_is_given_is_stored(browser: Browser, stage: Stage) -> None:
    await browser.send(PATH, {"do": "start", "input": "only Hamburg"})
    assert [execution.input for execution in stage.memory.executions.values()] == ["only Hamburg"]
