"""The page of tools: the catalog, what a task or an agent may call, and switches."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace

import httpx
import pytest

from ferryman.catalog.tools import CATEGORIES, LISTED
from ferryman.domain.workspaces.agent import build_default_agent
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.domain.workspaces.workspace import build_default_workspace
from tests.builders import build_task
from tests.serving.conftest import Stage

from .conftest import Browser

PAGE = "/console/tools"
TASK_PAGE = f"{PAGE}?task=task_one"
AGENT = "agent_desk"


@pytest.fixture(autouse=True)
def _store(stage: Stage) -> None:
    headers = stage.owner("ann")
    place = derive_default_workspace("ann")
    agent = replace(build_default_agent("ann", place), id=AGENT, name="<b>desk</b>")
    stage.memory.agents[AGENT] = agent
    stage.memory.tasks["task_one"] = build_task(
        **{"id": "task_one", "owner": "ann", "agent": AGENT, "name": "reports", "model": "scripted"},
        tools=("http_get", "books__look"),
        integrations=("github",),
    )
    assert headers


def read_boxes(markup: str, name: str) -> dict[str, bool]:
    """Return which of the boxes with this name are ticked, by their values."""
    boxes = re.findall(rf'<input type="checkbox"[^>]* name="{name}" value="([^"]*)"([^>]*)>', markup)
    return {html.unescape(value): "checked" in rest for value, rest in boxes}


def read_form(markup: str) -> dict[str, str | list[str]]:
    """Return what the form of the switches would send as it is."""
    others = re.search(r'<textarea id="f-others"[^>]*>\n([^<]*)</textarea>', markup)
    fields: dict[str, str | list[str]] = {"others": others[1] if others else "", "do": "change"}
    for name in ("tool", "integration"):
        fields[name] = [value for value, is_on in read_boxes(markup, name).items() if is_on]
    return fields


async def send(browser: Browser, page: str, **changes: object) -> httpx.Response:
    kind, _, name = page.partition("?")[2].partition("=")
    fields = read_form((await browser.open(page)).text)
    return await browser.send(PAGE, {**fields, kind: name, **changes}, page=page)  # type: ignore[dict-item]


async def test_the_catalog_is_shown_by_category_with_what_it_says_of_each_tool(browser: Browser) -> None:
    markup = (await browser.open(PAGE)).text
    for category in CATEGORIES.values():
        count = sum(tool.category == category.id for tool in LISTED.values())
        assert f"<b>{category.name}</b> ({count} tool" in markup
    for tool in LISTED.values():
        assert f"<b>{html.escape(tool.display_name).replace('&#x27;', '&#39;')}</b><br><code>{tool.name}</code>" in markup
    assert markup.count("not implemented</span>") == sum(not tool.implemented for tool in LISTED.values())


async def test_services_are_a_category_with_their_hosts(browser: Browser, stage: Stage) -> None:
    markup = (await browser.open(PAGE)).text
    services = stage.deps().integrations
    assert f"<b>Connected services</b> ({len(services)} service" in markup
    for service in services.values():
        assert f"<b>{html.escape(service.name)}</b>" in markup


async def test_the_page_of_tools_leads_from_a_task_to_its_import(browser: Browser) -> None:
    (link,) = re.findall(r'href="([^"]*)">Import OpenAPI</a>', (await browser.open(TASK_PAGE)).text)
    opened = await browser.open(str(httpx.URL(f"http://x{PAGE}").join(link).path))
    assert (opened.status_code, '<input id="f-url"' in opened.text, '<input id="f-cluster"' in opened.text) == (200, True, True)


async def test_a_tool_is_on_where_the_task_lists_it(browser: Browser) -> None:
    boxes = read_boxes((await browser.open(TASK_PAGE)).text, "tool")
    assert [name for name, is_on in boxes.items() if is_on] == ["http_get"]
    assert sorted(boxes) == sorted(tool.name for tool in LISTED.values() if tool.implemented)


async def test_a_tool_that_is_off_says_which_level_takes_it_away(browser: Browser, stage: Stage) -> None:
    place = derive_default_workspace("ann")
    stage.memory.workspaces[place] = replace(build_default_workspace("ann"), allowed_tools=("calculator",))
    markup = (await browser.open(TASK_PAGE)).text
    assert "the workspace&#39;s allowed_tools do not name it" in markup
    assert "the task does not enable it" in markup


async def test_a_form_that_is_sent_as_it_is_changes_nothing(browser: Browser, stage: Stage) -> None:
    before = stage.memory.tasks["task_one"], stage.memory.agents[AGENT]
    for page in (TASK_PAGE, f"{PAGE}?agent={AGENT}"):
        assert (await send(browser, page)).status_code == 303
    assert (stage.memory.tasks["task_one"], stage.memory.agents[AGENT]) == before


async def test_a_tool_of_a_task_is_switched_on_and_other_names_stay(browser: Browser, stage: Stage) -> None:
    sent = await send(browser, TASK_PAGE, tool=["http_get", "calculator"])
    assert (sent.status_code, sent.headers["location"].endswith("tools?task=task_one&done=saved")) == (303, True)
    assert stage.memory.tasks["task_one"].tools == ("http_get", "books__look", "calculator")


async def test_a_tool_of_a_task_is_switched_off(browser: Browser, stage: Stage) -> None:
    await send(browser, TASK_PAGE, tool=[])
    assert stage.memory.tasks["task_one"].tools == ("books__look",)


async def test_a_service_of_a_task_is_switched_on(browser: Browser, stage: Stage) -> None:
    await send(browser, TASK_PAGE, integration=["github", "slack"])
    assert set(stage.memory.tasks["task_one"].integrations) == {"github", "slack"}


async def test_an_agent_that_may_call_everything_is_held_to_what_stays_on(browser: Browser, stage: Stage) -> None:
    page = f"{PAGE}?agent={AGENT}"
    boxes = read_boxes((await browser.open(page)).text, "tool")
    assert all(boxes.values())
    await send(browser, page, tool=[name for name in boxes if name != "webhook"])
    assert sorted(stage.memory.agents[AGENT].allowed_tools) == sorted(set(boxes) - {"webhook"})


async def test_the_last_tool_of_an_agent_is_not_switched_off_as_that_would_allow_all(browser: Browser, stage: Stage) -> None:
    stage.memory.agents[AGENT] = replace(stage.memory.agents[AGENT], allowed_tools=("http_get",))
    page = await send(browser, f"{PAGE}?agent={AGENT}", tool=[])
    assert (page.status_code, "an empty list allows every tool" in page.text) == (422, True)
    assert stage.memory.agents[AGENT].allowed_tools == ("http_get",)


async def test_what_the_api_refuses_is_said_and_what_was_ticked_stays(browser: Browser) -> None:
    page = await send(browser, TASK_PAGE, tool=["calculator"], others="no name")
    assert (page.status_code, "must be" in page.text) == (422, True)
    assert [name for name, is_on in read_boxes(page.text, "tool").items() if is_on] == ["calculator"]
    assert ">\nno name</textarea>" in page.text


async def test_the_clusters_of_a_task_lead_to_their_tools(browser: Browser) -> None:
    spec = {
        "openapi": "3.1.0",
        "info": {"title": "Pet & store", "version": "1"},
        "paths": {"/a": {"get": {}}, "/b": {"get": {}}},
    }
    fields = {"spec": json.dumps(spec), "url": "", "cluster": "", "server": "", "only": "", "tags": "", "do": "import"}
    sent = await browser.send("/console/tasks/task_one/import", fields)
    assert sent.status_code == 303, sent.text
    markup = (await browser.open(TASK_PAGE)).text
    assert 'tools?cluster=Pet%20%26%20store"' in markup
    assert re.search(r"Pet &amp; store</bdi> \(<data class=\"number\" value=\"2\">2</data> tools\)", markup)


async def test_a_task_of_another_owner_is_not_there(browser: Browser, stage: Stage) -> None:
    stage.memory.tasks["task_two"] = build_task(id="task_two", owner="bob")
    assert (await browser.open(f"{PAGE}?task=task_two")).status_code == 404
