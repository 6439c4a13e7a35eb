"""The pages of executions: what the API says of them, live, and what their forms do."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from decimal import Decimal

import pytest

from ferryman.domain.executions.execution import Status
from ferryman.inmemory.clock import START
from ferryman.serving.console.pages.audit import verify_chain
from tests.builders import build_execution
from tests.serving.conftest import Stage

from .conftest import Browser

ID = "exec_one"
PATH = f"/console/executions/{ID}"


@pytest.fixture(autouse=True)
def _store_execution(stage: Stage) -> None:
    stage.owner("ann")
    stage.memory.executions[ID] = build_execution(
        id=ID,
        owner="ann",
        status=Status.FAILED,
        error="<b>it broke</b>",
        credits_used=Decimal("12.5"),
        started_at=START,
        completed_at=START + timedelta(seconds=90),
    )


async def test_the_list_names_each_with_its_status(browser: Browser) -> None:
    page = await browser.open("/console/executions")
    assert 'href="../console/executions/exec_one"' in page.text
    assert '<span class="badge failed">failed</span>' in page.text


async def test_a_filter_leaves_others_out(browser: Browser) -> None:
    assert ID not in (await browser.open("/console/executions?status=completed")).text


async def test_an_id_leads_to_its_page(browser: Browser) -> None:
    assert (await browser.open(f"/console/executions?id={ID}")).status_code == 303


async def test_an_error_of_others_is_text(browser: Browser) -> None:
    page = await browser.open(PATH)
    assert "&lt;b&gt;it broke&lt;/b&gt;" in page.text


async def test_the_credits_are_the_apis(browser: Browser) -> None:
    page = await browser.open(PATH)
    assert re.search(r'<data class="number" value="12.5">12.5</data>', page.text)


async def test_one_of_another_owner_is_not_there(browser: Browser, stage: Stage) -> None:
    stage.memory.executions["exec_two"] = build_execution(id="exec_two", owner="bob")
    assert (await browser.open("/console/executions/exec_two")).status_code == 404


async def test_a_stream_of_one_that_has_ended_sends_its_last_state(browser: Browser) -> None:
    stream = await browser.open(f"{PATH}/live")
    body = json.loads(re.findall(r"event: parts\ndata: (.*)\n", stream.text)[-1])
    assert set(body) == {"summary", "actions", "output", "timeline", "pager"}


async def test_who_has_seen_its_end_is_told_to_stay_away(browser: Browser) -> None:
    stream = await browser.open(f"{PATH}/live")
    last = re.findall(r"^id: (.*)$", stream.text, re.MULTILINE)[-1]
    again = await browser.open(f"{PATH}/live?after={last}")
    assert again.text == "event: end\ndata: {}\n\n"


async def test_an_audit_of_nothing_says_that_nothing_is_signed(browser: Browser) -> None:
    page = await browser.open(f"{PATH}/audit")
    assert "NOTHING IS SIGNED" in page.text


async def test_an_audit_of_another_owner_is_not_there(browser: Browser, stage: Stage) -> None:
    stage.memory.executions["exec_two"] = build_execution(id="exec_two", owner="bob")
    assert (await browser.open("/console/executions/exec_two/audit")).status_code == 404


def test_a_chain_that_was_changed_is_wrong() -> None:
    entry = {"kind": "opened"}
    chain = {"format": "ferryman-receipts/2", "execution": ID, "entries": [entry], "keys": {}, "next": None}
    assert verify_chain(chain)[0] == "wrong"
