"""Questions of MCP servers: answered at the page and at the API by a person, as their form says, and by nothing else."""

from __future__ import annotations

import html
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from ferryman.domain.approvals.approval import ApprovalState
from ferryman.domain.calls.continuation import ServerQuestion
from ferryman.inmemory.clock import START
from tests.builders import build_execution

from .conftest import Stage
from .test_approval_page import read_form, sign_in
from .values import build_question

ID, EXECUTION = "appr_question", "exec_question"
PATH = f"/approvals/{ID}"
SCHEMA = {
    "type": "object",
    "properties": {
        "people": {"type": "integer", "minimum": 1, "maximum": 12, "title": "For <b>how</b> many"},
        "hour": {"type": "string", "enum": ["18:00", "20:00"]},
        "extras": {"type": "array", "items": {"type": "string", "enum": ["cake", "candles"]}},
        "outside": {"type": "boolean"},
    },
    "required": ["people", "hour"],
}
QUESTIONS = (
    ServerQuestion(key="booking", mode="form", message="For whom? <script>alert(1)</script>", schema=SCHEMA),
    ServerQuestion(key="page", mode="url", message="Link it.", url="https://evil.example.com/link"),
)
ANSWERS = {"booking": {"people": 4, "hour": "20:00", "extras": ["cake"], "outside": True}, "page": {}}


@pytest.fixture(autouse=True)
def _waiting(stage: Stage) -> None:
    stage.owner("ann")
    approval = build_question("ann", *QUESTIONS, id=ID, execution=EXECUTION)
    stage.memory.approvals[ID] = approval
    stage.memory.executions[EXECUTION] = build_execution(
        id=EXECUTION, owner="ann", workspace=approval.workspace, slice=3, waiting_for=ID, waiting_since=START
    )


@pytest.fixture
async def browser(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="https://testserver") as client:
        yield client


async def press(browser: httpx.AsyncClient, button: str, **fields: str) -> httpx.Response:
    page = await browser.get(PATH)
    return await browser.post(PATH, data={**read_form(page.text), "reason": "", **fields, "do": button})


async def decide(browser: httpx.AsyncClient, stage: Stage, verdict: str, arguments: Any = None) -> httpx.Response:
    body = {"verdict": verdict, "digest": stage.memory.approvals[ID].digest, "arguments": arguments}
    return await browser.post(f"/v1/approvals/{ID}/decision", headers=stage.owner("ann"), json=body)


async def test_the_page_shows_who_asks_what_and_no_link_and_no_markup_of_the_server(
    browser: httpx.AsyncClient, stage: Stage
) -> None:
    await sign_in(browser, stage.owner("ann"), PATH)
    page = (await browser.get(PATH)).text
    text_of_page = html.unescape(page)
    assert all(text in text_of_page for text in ("https://tools.example.com/mcp", "evil.example.com", "For whom?", "desk"))
    assert not any(text in page for text in ("<script", "<b>how", "href=", 'value="approve"'))


async def test_what_is_typed_at_the_page_is_the_signed_answer(browser: httpx.AsyncClient, stage: Stage) -> None:
    await sign_in(browser, stage.owner("ann"), PATH)
    typed = {"q0.0.0": "on", "q0.1": "1", "q0.2": "0", "q0.3": "4"}  # fields as the form has them: sorted by name
    assert (await press(browser, "answer", **typed)).status_code == 303
    approval = stage.memory.approvals[ID]
    assert approval.decided is not None
    assert (approval.state, json.loads(approval.decided.decision.edited)) == (ApprovalState.ANSWERED, ANSWERS)
    assert [item.execution for item in stage.queue.waiting] == [EXECUTION, EXECUTION]


@pytest.mark.parametrize("typed", [{}, {"q0.3": "40", "q0.1": "1"}, {"q0.3": "4", "q0.1": "7"}, {"q0.3": "four", "q0.1": "1"}])
async def test_what_does_not_fit_the_form_is_no_answer(browser: httpx.AsyncClient, stage: Stage, typed: dict[str, str]) -> None:
    await sign_in(browser, stage.owner("ann"), PATH)
    assert (await press(browser, "answer", **typed)).status_code == 422
    assert stage.memory.approvals[ID].decided is None


async def test_the_page_declines_without_an_answer(browser: httpx.AsyncClient, stage: Stage) -> None:
    await sign_in(browser, stage.owner("ann"), PATH)
    assert (await press(browser, "deny")).status_code == 303
    assert stage.memory.approvals[ID].state is ApprovalState.DENIED


async def test_the_api_takes_an_answer(browser: httpx.AsyncClient, stage: Stage) -> None:
    answer = await decide(browser, stage, "answer", ANSWERS)
    assert (answer.status_code, answer.json()["state"]) == (200, "answered")
    assert answer.json()["decision"]["arguments"] == ANSWERS


@pytest.mark.parametrize(
    ("verdict", "arguments"),
    [("approve", None), ("edit", ANSWERS), ("answer", None), ("answer", {"booking": {"people": 4}, "page": {}})],
)
async def test_no_other_verdict_is_one_about_a_question(
    browser: httpx.AsyncClient, stage: Stage, verdict: str, arguments: Any
) -> None:
    assert (await decide(browser, stage, verdict, arguments)).status_code == 422
    assert stage.memory.approvals[ID].decided is None
