"""The link of a notice: it opens for who signs in first, in whichever workspace the call is, and for nobody else."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urljoin

import httpx
import pytest
from fastapi import FastAPI

from ferryman.domain.approvals.approval import ApprovalState
from ferryman.domain.approvals.notice_message import build_notice_body
from ferryman.domain.workspaces.member import Role
from ferryman.inmemory.clock import START
from tests.builders import build_execution
from tests.serving.conftest import Stage
from tests.serving.values import build_approval

from .conftest import SAME_SITE, Browser
from .test_approvals import enter, press

PATH = "/console/approvals/appr_far"


@pytest.fixture(autouse=True)
def _waiting(stage: Stage) -> None:
    """A call that waits in another workspace of ann's."""
    stage.owner("ann")
    stage.memory.approvals["appr_far"] = build_approval("ann", id="appr_far", execution="exec_far", workspace="ws_ann")
    stage.memory.executions["exec_far"] = build_execution(
        id="exec_far", owner="ann", workspace="ws_ann", slice=3, waiting_for="appr_far", waiting_since=START
    )


async def test_the_link_of_a_notice_opens_after_signing_in(app: FastAPI, stage: Stage) -> None:
    approval = build_approval("ann", id="appr_here")
    stage.memory.approvals["appr_here"] = approval
    link = build_notice_body(approval)["data"]["page"]
    key = stage.owner("ann")["Authorization"].removeprefix("Bearer ")
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="https://testserver") as http:
        page = await http.get(link)
        assert f'name="next" value="{link}"' in page.text
        answer = await http.post("/console/sign-in", data={"key": key, "next": link}, headers=SAME_SITE)
        assert urljoin("/console/sign-in", answer.headers["location"]) == link
        assert "https://api.github.com/gists" in (await http.get(link)).text


async def test_of_one_in_another_workspace_it_is_said_in_which(browser: Browser) -> None:
    page = await browser.open(PATH)
    assert (page.status_code, 'name="id" value="ws_ann"' in page.text, "api.github.com" in page.text) == (404, True, False)


async def test_it_opens_and_is_decided_about_once_somebody_went_there(browser: Browser, stage: Stage) -> None:
    led = await browser.send("/console/workspaces", {"id": "ws_ann", "next": PATH, "do": "choose"}, page=PATH)
    assert str(led.url.join(led.headers["location"]).path) == PATH
    assert (await press(browser, "approve", PATH)).status_code == 303
    assert stage.memory.approvals["appr_far"].state is ApprovalState.APPROVED


async def test_a_key_for_one_workspace_opens_none_of_another(browser: Browser, stage: Stage) -> None:
    stage.memory.workspaces["ws_other"] = replace(stage.memory.workspaces["ws_ann"], id="ws_other")
    await enter(browser, stage.member(Role.ADMIN, approves=True, workspace="ws_other"))
    there, nowhere = await browser.open(PATH), await browser.open("/console/approvals/appr_nowhere")
    assert (there.status_code, there.text) == (404, nowhere.text)


async def test_one_of_another_owner_is_answered_as_one_that_is_not_there(browser: Browser, stage: Stage) -> None:
    await enter(browser, stage.owner("bob"))
    there, nowhere = await browser.open(PATH), await browser.open("/console/approvals/appr_nowhere")
    assert (there.status_code, there.text) == (404, nowhere.text)
