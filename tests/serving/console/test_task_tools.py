"""The pages of a task's own tools: by cluster, declared, imported after a dry run, tried, and deleted."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import httpx
import pytest

from ferryman.domain.calls.call import TicketState, ToolCallResult
from ferryman.domain.calls.refusal import Refusal
from ferryman.domain.executions.execution import Status
from ferryman.inmemory.clock import START
from tests.builders import build_execution, build_task, build_ticket
from tests.serving.conftest import Stage

from .conftest import Browser
from .readback import find_section, read_numbers

TASK = "/console/tasks/task_one"
TOOLS, IMPORT = f"{TASK}/tools", f"{TASK}/import"
HOSTILE = "<script>alert(1)</script>\u202e"
URL = "https://api.github.com/openapi.json"
EMPTY = {"url": "", "spec": "", "cluster": "", "server": "", "only": "", "tags": ""}
DECLARATION = {"name": "look_up", "method": "GET", "url": "https://api.github.com/users/{user}", "body_type": "json"}


def write_spec(*paths: str, title: str = "Store", server: str = "https://api.github.com", **operation: Any) -> str:
    described = {path: {"get": {"summary": f"Get {path}", **operation}} for path in paths}
    return json.dumps(
        {"openapi": "3.1.0", "info": {"title": title, "version": "1"}, "servers": [{"url": server}], "paths": described}
    )


@pytest.fixture(autouse=True)
def _store_task(stage: Stage) -> None:
    stage.owner("ann")
    fields = {"id": "task_one", "owner": "ann", "name": "reports", "model": "scripted"}
    stage.memory.tasks["task_one"] = build_task(**fields, tools=("http_get",), integrations=("github",))


async def import_spec(browser: Browser, spec: str, **fields: str) -> httpx.Response:
    sent = await browser.send(IMPORT, {**EMPTY, "spec": spec, **fields, "do": "import"})
    assert sent.status_code == 303, sent.text
    return sent


def list_names(stage: Stage) -> set[str]:
    return {tool.name for _, tools in stage.memory.clusters.get("task_one", {}).values() for tool in tools}


async def declare(browser: Browser, **fields: str) -> httpx.Response:
    return await browser.send(TOOLS, {**DECLARATION, **fields, "do": "declare"})


async def test_each_cluster_is_a_section_that_collapses_with_the_number_of_its_tools(browser: Browser) -> None:
    await import_spec(browser, write_spec("/a", "/b"))
    await declare(browser)
    markup = (await browser.open(TOOLS)).text
    sections = re.findall(r'<details class="cluster".*?<summary>(.*?)</summary>', markup, re.DOTALL)
    assert [re.sub("<[^>]*>", "", section).strip() for section in sections] == ["Store (2 tools)", "Ungrouped (1 tool)"]


async def test_a_row_has_method_path_and_summary_and_the_last_group_plain_names(browser: Browser) -> None:
    await import_spec(browser, write_spec("/pets"))
    await declare(browser)
    rows = re.findall(r'<li class="tool-row">(.*?)</li>', (await browser.open(TOOLS)).text, re.DOTALL)
    first, last = (re.sub(r"\s+", " ", re.sub("<[^>]*>", "", row)).strip() for row in rows)
    assert (first.startswith("GET /pets - Get /pets"), last) == (True, "look_up")


async def test_of_many_tools_a_cluster_is_opened_and_paged_alone(browser: Browser) -> None:
    await import_spec(browser, write_spec(*(f"/a{number:03}" for number in range(120)), title="A"))
    await import_spec(browser, write_spec(*(f"/b{number:03}" for number in range(120)), title="B & c"))
    markup = (await browser.open(TOOLS)).text
    assert 'href="../../../console/tasks/task_one/tools?cluster=B%20%26%20c"' in markup
    page = (await browser.open(f"{TOOLS}?cluster=B%20%26%20c")).text
    assert (page.count('class="tool-row"'), "/b000" in page, "/a000" in page) == (100, True, False)
    more = html.unescape(re.search(r'class="pager"><a href="([^"]*)"', page)[1])  # type: ignore[index]
    rest = (await browser.open(f"{TOOLS}?{more.partition('?')[2]}")).text
    assert (rest.count('class="tool-row"'), "/b119" in rest) == (20, True)


async def test_the_tools_of_no_cluster_are_paged_alone(browser: Browser, stage: Stage) -> None:
    await declare(browser)
    await import_spec(browser, write_spec("/a"))
    page = (await browser.open(f"{TOOLS}?cluster=")).text
    assert (page.count('class="tool-row"'), 'class="pager"' in page) == (1, False)


async def test_a_tool_is_declared_from_a_form(browser: Browser, stage: Stage) -> None:
    sent = await declare(browser, query='{"units": "{{units}}"}', parameters='{"units": {"required": false}}')
    assert sent.headers["location"].endswith("/console/tasks/task_one/tools/look_up?done=declared")
    ((_, (tool,)),) = stage.memory.clusters["task_one"].values()
    assert (tool.name, tool.query, tool.parameters["units"].required) == ("look_up", {"units": "{{units}}"}, False)


async def test_what_is_wrong_in_a_declaration_is_beside_its_field_and_what_was_typed_stays(
    browser: Browser, stage: Stage
) -> None:
    page = await declare(browser, url="http://api.github.com/x", description="what I typed")
    assert page.status_code == 422
    assert re.search(r'name="url" type="text" value="http://api.github.com/x" required aria-invalid="true"', page.text)
    assert "what I typed" in page.text
    assert list_names(stage) == set()


async def test_text_that_is_no_json_in_a_declaration_names_its_field(browser: Browser) -> None:
    page = await declare(browser, headers="{")
    assert re.search(r'<p id="h-headers" class="help bad">must be JSON; it is not at line 1, column 2', page.text)


async def test_a_tool_is_declared_as_json(browser: Browser, stage: Stage) -> None:
    body = json.dumps({"kind": "http", "name": "look_up", "url": "https://api.github.com/zen"})
    assert (await browser.send(TOOLS, {"json": body, "do": "declare-json"})).status_code == 303
    assert list_names(stage) == {"look_up"}


async def test_json_that_is_refused_stays_in_its_field(browser: Browser) -> None:
    page = await browser.send(TOOLS, {"json": '{"kind": "http", "name": "look_up"}', "do": "declare-json"})
    assert (
        page.status_code,
        "{&#34;kind&#34;: &#34;http&#34;, &#34;name&#34;: &#34;look_up&#34;}</textarea>" in page.text,
    ) == (422, True)


async def test_json_that_is_no_object_is_refused(browser: Browser) -> None:
    assert (await browser.send(TOOLS, {"json": "[1]", "do": "declare-json"})).status_code == 422


async def test_a_cluster_is_deleted_with_all_its_tools_once_the_box_is_ticked(browser: Browser, stage: Stage) -> None:
    await import_spec(browser, write_spec("/a", "/b", title="A/b c"))
    assert (await browser.send(TOOLS, {"cluster": "A/b c", "do": "delete-cluster"})).status_code == 422
    assert len(list_names(stage)) == 2
    assert (await browser.send(TOOLS, {"cluster": "A/b c", "sure": "true", "do": "delete-cluster"})).status_code == 303
    assert list_names(stage) == set()


async def test_a_tool_is_deleted_once_the_box_is_ticked(browser: Browser, stage: Stage) -> None:
    await declare(browser)
    assert (await browser.send(f"{TOOLS}/look_up", {"do": "delete"})).status_code == 422
    assert (await browser.send(f"{TOOLS}/look_up", {"do": "delete", "sure": "true"})).status_code == 303
    assert list_names(stage) == set()


async def test_a_dry_run_shows_what_would_be_made_and_stores_nothing(browser: Browser, stage: Stage) -> None:
    page = await browser.send(IMPORT, {**EMPTY, "spec": write_spec("/a", "/b"), "do": "dry-run"})
    section = find_section(page.text, "result")
    assert (page.status_code, read_numbers(section)[:2], section.count('class="tool-row"')) == (200, ["2", "0"], 2)
    assert list_names(stage) == set()


async def test_the_numbers_of_a_dry_run_are_those_of_the_api(browser: Browser, client: httpx.AsyncClient) -> None:
    spec = write_spec("/a", "/b", server="https://elsewhere.example")
    page = await browser.send(IMPORT, {**EMPTY, "spec": spec, "do": "dry-run"})
    path = "/v1/tasks/task_one/tools/import-openapi"
    answer = (await client.post(path, json={"spec": spec, "dry_run": True})).json()
    assert read_numbers(find_section(page.text, "result")) == [str(answer[name]) for name in ("imported", "disabled", "tokens")]


async def test_a_dry_run_says_what_is_disabled_and_why(browser: Browser) -> None:
    page = await browser.send(IMPORT, {**EMPTY, "spec": write_spec("/a", server="https://elsewhere.example"), "do": "dry-run"})
    assert "Disabled, and why (1 tool)" in page.text
    assert "elsewhere.example" in find_section(page.text, "result")


async def test_what_was_typed_stays_after_a_dry_run(browser: Browser) -> None:
    spec = write_spec("/a")
    page = await browser.send(IMPORT, {**EMPTY, "spec": spec, "cluster": "mine", "do": "dry-run"})
    assert html.escape(spec).replace("&quot;", "&#34;") in page.text
    assert 'name="cluster" type="text" value="mine"' in page.text


async def test_a_problem_of_a_document_is_shown_with_its_place(browser: Browser, stage: Stage) -> None:
    page = await browser.send(IMPORT, {**EMPTY, "spec": '{"openapi": "3.1.0", "paths": [', "do": "dry-run"})
    assert (page.status_code, "Nothing can be imported:" in page.text) == (422, True)
    assert re.search(r"<b><bdi class=\"foreign\">spec</bdi></b>", page.text)


async def test_the_part_of_a_dry_run_comes_alone_and_without_what_was_typed(browser: Browser) -> None:
    opened = await browser.open(IMPORT)
    token = re.search(r'id="import".*?name="token" value="([^"]*)"', opened.text, re.DOTALL)
    assert token is not None
    fields = {**EMPTY, "token": token[1], "spec": write_spec("/a"), "do": "dry-run"}
    headers = {"Sec-Fetch-Site": "same-origin", "Ferryman-Parts": "result"}
    answer = await browser.http.post(IMPORT, data=fields, headers=headers)
    tree = answer.json()["parts"]["result"]
    assert (tree[0], tree[1]["id"], "GET /a" in re.sub(r'[\[\]",]', "", json.dumps(tree)) or "/a" in json.dumps(tree)) == (
        "section",
        "result",
        True,
    )


async def test_an_import_too_soon_after_others_is_asked_again_by_a_page_that_follows(browser: Browser) -> None:
    for _ in range(3):
        await browser.send(IMPORT, {**EMPTY, "spec": write_spec("/a"), "do": "dry-run"})
    page = await browser.send(IMPORT, {**EMPTY, "spec": write_spec("/a"), "do": "dry-run"})
    assert (page.status_code, 'data-again-s="6"' in page.text) == (429, True)


async def test_a_large_document_is_shown_in_part_and_imported_whole(browser: Browser, stage: Stage) -> None:
    spec = write_spec(*(f"/things/{number}" for number in range(300)), description="long " * 100)
    page = await browser.send(IMPORT, {**EMPTY, "spec": spec, "do": "dry-run"})
    assert (page.text.count('class="tool-row"'), "The first 200 of 300." in page.text) == (200, True)
    await import_spec(browser, spec)
    assert len(list_names(stage)) == 300


async def test_a_document_is_imported_by_its_url_under_the_name_of_a_cluster(browser: Browser, stage: Stage) -> None:
    stage.documents[URL] = write_spec("/a", "/b")
    sent = await browser.send(IMPORT, {**EMPTY, "url": URL, "cluster": "my api", "do": "import"})
    assert sent.headers["location"].endswith("/tools?cluster=my%20api&done=imported")
    assert (set(stage.memory.clusters["task_one"]), len(list_names(stage))) == ({"my api"}, 2)


async def test_texts_of_a_document_are_shown_as_text(browser: Browser) -> None:
    spec = write_spec("/a", title=HOSTILE, summary=HOSTILE, description=HOSTILE, server="https://elsewhere.example")
    pages = [(await browser.send(IMPORT, {**EMPTY, "spec": spec, "do": "dry-run"})).text]
    await import_spec(browser, spec, cluster="<b>x</b>")
    pages += [(await browser.open(path)).text for path in (TOOLS, f"{TOOLS}/get_a")]
    for page in pages:
        assert ("<script>alert" in page, "\u202e" in page, "<b>x</b>" in page) == (False, False, False)


async def test_a_tool_has_a_field_for_each_argument(browser: Browser) -> None:
    await declare(browser, parameters='{"user": {"enum": ["ann", "bob"], "description": "Who"}}')
    markup = (await browser.open(f"{TOOLS}/look_up")).text
    assert re.search(r'<label for="f-arguments.0">user</label>\s*<select', markup)
    assert '<option value="ann">ann</option>' in markup


async def test_trying_a_tool_starts_one_call_of_it(browser: Browser, stage: Stage) -> None:
    await declare(
        browser,
        url="https://api.github.com/users/{user}/repos?page={page?}",
        parameters='{"page": {"type": "integer", "required": false}}',
    )
    fields = {"tool": "look_up", "arguments.0": "7", "arguments.1": "", "do": "try"}
    names = re.findall(r'<label for="f-(arguments\.\d)">(\w+)</label>', (await browser.open(f"{TOOLS}/look_up")).text)
    fields |= {field: "7" if name == "page" else "ann" for field, name in names}
    sent = await browser.send(f"{TOOLS}/look_up", fields)
    (delivery,) = stage.queue.waiting
    execution = stage.memory.executions[delivery.execution]
    assert sent.headers["location"].endswith(f"/console/tasks/task_one/tries/{execution.id}")
    assert (execution.called_tool, json.loads(execution.input or "")) == ("look_up", {"user": "ann", "page": 7})


async def test_a_built_in_tool_is_tried_too(browser: Browser, stage: Stage) -> None:
    fields = {"tool": "http_get", "arguments.0": "https://api.github.com/zen", "arguments.1": '{"A": "b"}', "do": "try"}
    assert (await browser.send(f"{TOOLS}/http_get", fields)).status_code == 303
    (execution,) = [item for item in stage.memory.executions.values() if item.called_tool]
    assert json.loads(execution.input or "")["url"] == "https://api.github.com/zen"


async def test_an_argument_that_is_no_json_is_refused_beside_its_field(browser: Browser, stage: Stage) -> None:
    fields = {"tool": "http_get", "arguments.0": "https://api.github.com/zen", "arguments.1": "{", "do": "try"}
    page = await browser.send(f"{TOOLS}/http_get", fields)
    assert (page.status_code, "must be JSON" in page.text, stage.queue.waiting) == (422, True, ())
    assert 'value="https://api.github.com/zen"' in page.text


def store_try(stage: Stage, **call: Any) -> str:
    """Store an execution that made one call, and return the page that shows it."""
    known = {"owner": "ann", "task": "task_one", "called_tool": "http_get", "input": '{"url": "https://api.github.com/zen"}'}
    stage.memory.executions["exec_try"] = build_execution(id="exec_try", status=Status.COMPLETED, completed_at=START, **known)
    ticket = build_ticket(state=TicketState.SETTLED, created_at=START, sent_at=START, settled_at=START, **call)
    stage.memory.tickets["exec_try"] = {0: ticket}
    return f"{TASK}/tries/exec_try"


async def test_the_page_of_a_try_shows_request_response_and_result(browser: Browser, stage: Stage) -> None:
    result = ToolCallResult(
        "http_get",
        HOSTILE,
        url="https://api.github.com/zen",
        method="GET",
        response_status=200,
        response_size_bytes=5,
        latency_ms=12.5,
    )
    section = find_section((await browser.open(store_try(stage, result=result))).text, "tried")
    assert "GET <bdi" in section
    assert read_numbers(section)[:3] == ["200", "5", "12.5"]
    assert ("&lt;script&gt;" in section, "<script>" in section, "data-ended" in section) == (True, False, True)


async def test_the_page_of_a_try_says_in_words_why_it_was_refused(browser: Browser, stage: Stage) -> None:
    refusal = Refusal(reason="tool_not_enabled", message="Error: tool 'http_get' is not enabled for this task")
    page = store_try(stage, result=ToolCallResult.from_refusal("http_get", refusal))
    section = find_section((await browser.open(page)).text, "tried")
    assert ("is not enabled for this task" in section, ">refused</span>" in section) == (True, True)


async def test_a_try_that_is_under_way_is_asked_for_again(browser: Browser, stage: Stage) -> None:
    sent = await browser.send(
        f"{TOOLS}/http_get", {"tool": "http_get", "arguments.0": "https://api.github.com/zen", "do": "try"}
    )
    markup = (await browser.open(sent.headers["location"].replace("../../../..", ""))).text
    assert ('data-refresh-s="2"' in markup, "data-ended" in markup, ">queued</span>" in markup) == (True, False, True)


async def test_a_try_has_what_was_typed_for_another_one(browser: Browser, stage: Stage) -> None:
    page = await browser.open(store_try(stage, result=ToolCallResult("http_get", "ok")))
    assert 'name="arguments.0" type="text" value="https://api.github.com/zen"' in page.text
    assert (await browser.send(f"{TASK}/tries/exec_try", {"tool": "http_get", "do": "try"})).status_code == 303


async def test_an_execution_of_another_kind_or_task_is_no_try(browser: Browser, stage: Stage) -> None:
    stage.memory.executions["exec_task"] = build_execution(id="exec_task", owner="ann", task="task_one")
    stage.memory.executions["exec_else"] = build_execution(
        id="exec_else", owner="ann", task="task_else", called_tool="http_get"
    )
    for name in ("exec_task", "exec_else"):
        assert (await browser.open(f"{TASK}/tries/{name}")).status_code == 404


async def test_a_tool_that_is_not_there_is_not_found(browser: Browser) -> None:
    assert (await browser.open(f"{TOOLS}/nothing")).status_code == 404


async def test_the_tools_of_another_owner_are_not_there(browser: Browser, stage: Stage) -> None:
    stage.memory.tasks["task_two"] = build_task(id="task_two", owner="bob")
    for path in ("tools", "tools/http_get", "import"):
        assert (await browser.open(f"/console/tasks/task_two/{path}")).status_code == 404
