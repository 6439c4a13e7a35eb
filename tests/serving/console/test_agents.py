"""The pages of agents: what the API says of them, and what their forms do."""

from __future__ import annotations

import html
import re
from dataclasses import replace

import httpx
import pytest

from ferryman.domain.tools.settings import ToolSettings
from ferryman.domain.workspaces.agent import Agent
from tests.builders import build_task
from tests.serving.conftest import Stage

from .conftest import Browser
from .readback import find_section

PATH = "/console/agents/agent_ann"
NEW = "/console/agents/new"


def read_agent(stage: Stage) -> Agent:
    return stage.memory.agents["agent_ann"]


@pytest.fixture(autouse=True)
def _store_agent(stage: Stage) -> None:
    stage.owner("ann")
    stage.owner("bob")
    stage.memory.agents["agent_ann"] = replace(
        read_agent(stage),
        name="<b>second</b>",
        model="scripted",
        tool_settings={"http_get": ToolSettings(calls_max=3, arguments={"url": "https://api.example.com/"})},
        enabled_tools=(),
    )


async def read_form(browser: Browser) -> dict[str, str]:
    """Return what the form of the fields has typed in it."""
    markup = (await browser.open(PATH)).text
    form = markup[markup.index("<h2>Settings</h2>") :]
    fields = dict(re.findall(r'<input id="f-[^"]*" name="([^"]*)" type="text" value="([^"]*)"', form))
    fields |= dict(re.findall(r'<textarea id="f-([^"]*)"[^>]*>\n([^<]*)</textarea>', form))
    for name, options in re.findall(r'<select id="f-([^"]*)".*?>(.*?)</select>', form, re.DOTALL):
        fields[name] = (re.findall(r'value="([^"]*)" selected', options) or [""])[0]
    if 'name="tools_enabled" value="true" checked' in form:
        fields["tools_enabled"] = "true"
    return {name: html.unescape(text) for name, text in fields.items()}


async def test_the_list_has_archived_agents_too_and_names_are_text(browser: Browser, stage: Stage) -> None:
    stage.memory.agents["agent_ann"] = replace(read_agent(stage), archived=True)
    page = await browser.open("/console/agents")
    assert "&lt;b&gt;second&lt;/b&gt;" in page.text
    assert '<span class="badge archived">archived</span>' in page.text


async def test_a_form_that_is_sent_as_it_is_changes_nothing(browser: Browser, stage: Stage) -> None:
    before = read_agent(stage)
    sent = await browser.send(PATH, {**await read_form(browser), "do": "change"})
    assert (sent.status_code, read_agent(stage)) == (303, before), sent.text


async def test_fields_that_were_changed_are_stored(browser: Browser, stage: Stage) -> None:
    fields = {
        **await read_form(browser),
        "system_prompt": "Be short.",
        "max_credits_month": "12.5",
        "enabled_tools": "",
        "tool_settings": '{"http_get": {"calls_max": 5}}',
        "titles": "model",
    }
    sent = await browser.send(PATH, {**fields, "do": "change"})
    stored = read_agent(stage)
    assert sent.status_code == 303, sent.text
    assert (stored.system_prompt, str(stored.max_credits_month), stored.enabled_tools) == ("Be short.", "12.5", None)
    assert (stored.tool_settings["http_get"].calls_max, stored.titles) == (5, "model")


async def test_what_is_wrong_is_beside_its_field_and_what_was_typed_stays(browser: Browser, stage: Stage) -> None:
    before = read_agent(stage)
    page = await browser.send(PATH, {**await read_form(browser), "name": "other", "max_credits_month": "many", "do": "change"})
    assert (page.status_code, read_agent(stage)) == (422, before)
    assert re.search(r'name="max_credits_month" type="text" value="many" aria-invalid="true"', page.text)
    assert 'value="other"' in page.text


async def test_an_agent_is_made_from_a_template(browser: Browser, stage: Stage) -> None:
    sent = await browser.send(NEW, {"template": "wally", "name": "Mine", "do": "create"})
    assert sent.status_code == 303, sent.text
    (created,) = [agent for agent in stage.memory.agents.values() if agent.name == "Mine"]
    assert created.system_prompt


async def test_an_agent_without_a_name_is_refused_beside_the_field(browser: Browser) -> None:
    page = await browser.send(NEW, {"description": "kept text", "do": "create"})
    assert (page.status_code, 'value="kept text"' in page.text) == (422, True)


async def test_an_agent_is_archived_and_restored(browser: Browser, stage: Stage) -> None:
    await browser.send(PATH, {"do": "archive"})
    assert read_agent(stage).archived
    await browser.send(PATH, {"do": "restore"})
    assert not read_agent(stage).archived


async def test_the_default_agent_has_no_button_that_archives_or_deletes(browser: Browser, client: httpx.AsyncClient) -> None:
    agents = (await client.get("/v1/agents")).json()["agents"]
    (default,) = [agent["agent_id"] for agent in agents if agent["is_default"]]
    markup = (await browser.open(f"/console/agents/{default}")).text
    assert 'value="change"' in markup
    assert 'value="archive"' not in markup
    assert 'value="delete"' not in markup


async def test_an_agent_is_deleted_where_the_box_is_ticked(browser: Browser, stage: Stage) -> None:
    assert (await browser.send(PATH, {"do": "delete"})).status_code == 422
    assert "agent_ann" in stage.memory.agents
    assert (await browser.send(PATH, {"do": "delete", "sure": "true"})).status_code == 303
    assert "agent_ann" in {job.subject for job in stage.memory.jobs.values()}


async def test_an_agent_with_tasks_is_deleted_with_them_or_not_at_all(browser: Browser, stage: Stage) -> None:
    stage.memory.tasks["task_one"] = build_task(id="task_one", owner="ann", agent="agent_ann")
    page = await browser.send(PATH, {"do": "delete", "sure": "true"})
    assert (page.status_code, "the agent has tasks" in page.text) == (409, True)
    assert (await browser.send(PATH, {"do": "delete", "sure": "true", "tasks": "true"})).status_code == 303


async def test_the_policy_is_what_the_api_says(browser: Browser, client: httpx.AsyncClient) -> None:
    policy = (await client.get("/v1/agents/agent_ann/policy", params={"limit": 100})).json()
    section = find_section((await browser.open(PATH)).text, "policy")
    name = r'data-label="Tool"><code><bdi class="foreign">(\w+)</bdi></code></td>'
    rows = re.findall(rf"{name}\s*<td[^>]*><span[^>]*>(\w+)<", section)
    implemented = [row for row in policy["tools"] if row["taken_by"] != ["catalog"]]
    assert rows == [(row["tool"], "yes" if row["allowed"] else "no") for row in implemented]
    missing = re.findall(r'<code><bdi class="foreign">(\w+)</bdi></code>', section.split('id="missing"')[1])
    assert missing == [row["tool"] for row in policy["tools"] if row["taken_by"] == ["catalog"]]


@pytest.mark.parametrize("end", ["", "/servers", "/servers/mcp_bob"])
async def test_an_agent_of_another_owner_is_not_there(browser: Browser, end: str) -> None:
    assert (await browser.open(f"/console/agents/agent_bob{end}")).status_code == 404
