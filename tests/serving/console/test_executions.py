"""The pages of executions: what the API says of them, live, and what their forms do."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from ferryman.domain.calls.call import TicketState, ToolCallResult
from ferryman.domain.executions.execution import Status
from ferryman.domain.receipts.receipt import Fact, Head, ReceiptKind, append_receipts
from ferryman.inmemory.clock import START
from ferryman.serving.console.assets import load_assets
from ferryman.serving.console.record_audit import audit_chain
from tests.builders import build_execution, build_settled_ticket, build_step
from tests.serving.conftest import Stage

from .conftest import Browser
from .readback import find_section, read_numbers

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
    assert audit_chain(chain, None)["state"] == "wrong"


@pytest.fixture
def running(stage: Stage) -> str:
    """An execution under way with 120 turns, a call in each, and the receipts of all but the last call's result."""
    name, head, facts = "exec_long", Head(), [Fact(ReceiptKind.OPENED, {}, {})]
    steps, tickets, receipts = {}, {}, {}
    for number in range(1, 121):
        about = {"turn": number, "seq": number - 1, "parent": None, "tool": "http_get"}
        facts += [Fact(ReceiptKind.REPLIED, {"turn": number}, {}), Fact(ReceiptKind.PLANNED, about, {})]
        receipts[head.count], head = append_receipts(
            head, facts, execution=name, at=START, key=1, sign=lambda digest: digest * 2
        )
        facts = [Fact(ReceiptKind.SETTLED, {**about, "outcome": "answered", "credits": "0"}, {})]
        steps[number] = build_step(number=number, first_call=number - 1, calls=1, event=3 * number - 1, credits=Decimal(number))
        result = ToolCallResult("http_get", f"content of {number}", url="https://api.example.com/", latency_ms=1234.5)
        tickets[number - 1] = build_settled_ticket(
            seq=number - 1, step=number, tool="http_get", display_arguments={"secret": f"argument {number}"}, result=result
        )
    tickets[119] = replace(tickets[119], state=TicketState.SENT, result=None, settled_at=None)
    known = {"id": name, "owner": "ann", "status": Status.RUNNING, "started_at": START, "iterations": 120}
    stage.memory.executions[name] = replace(build_execution(**known), receipts=head, tool_calls_total=120)
    stage.memory.steps[name], stage.memory.tickets[name], stage.memory.receipts[name] = steps, tickets, receipts
    return f"/console/executions/{name}"


def list_calls(markup: str) -> list[int]:
    return [int(seq) for seq in re.findall(r'<li class="call" id="call-(\d+)"', markup)]


async def test_a_page_lists_the_first_calls_without_what_is_large(browser: Browser, running: str) -> None:
    page = (await browser.open(running)).text
    assert list_calls(page) == list(range(50))
    assert "content of 1" not in page
    assert "argument 1" not in page


async def test_more_leads_to_the_calls_after_them(browser: Browser, running: str) -> None:
    assert 'exec_long?from=50" rel="next"' in (await browser.open(running)).text
    assert list_calls((await browser.open(f"{running}?from=50")).text) == list(range(50, 100))


async def test_the_last_page_has_no_more(browser: Browser, running: str) -> None:
    page = (await browser.open(f"{running}?from=100")).text
    assert list_calls(page) == list(range(100, 120))
    assert 'rel="next"' not in page


async def test_each_settled_call_names_its_receipt(browser: Browser, running: str, stage: Stage) -> None:
    page = (await browser.open(f"{running}?from=100")).text
    numbers = {
        receipt.members["seq"]: receipt.number
        for commit in stage.memory.receipts["exec_long"].values()
        for receipt in commit
        if receipt.kind is ReceiptKind.SETTLED
    }
    named = re.findall(r'id="call-(\d+)-name".*?receipt <data class="number" value="(\d+)">', page, re.DOTALL)
    assert {int(seq): int(number) for seq, number in named} == {seq: numbers[seq] for seq in range(100, 119)}


async def test_a_call_under_way_is_planned(browser: Browser, running: str) -> None:
    page = (await browser.open(f"{running}?from=119")).text
    assert '<span class="soft">planned</span>' in page


async def test_the_stream_of_a_page_begins_with_the_last_turn(browser: Browser, running: str) -> None:
    after = 3 * 120 - 2
    assert f"live?from=0&amp;end=50&amp;after={after}" in (await browser.open(running)).text
    assert f"live?from=100&amp;end=600&amp;after={after}" in (await browser.open(f"{running}?from=100")).text


async def test_one_that_has_ended_has_no_stream(browser: Browser) -> None:
    assert "data-live" not in (await browser.open(PATH)).text


async def end(stage: Stage) -> None:
    known = stage.memory.executions["exec_long"]
    stage.memory.executions["exec_long"] = replace(known, status=Status.COMPLETED, completed_at=START, output="**Done.**")


async def test_the_stream_of_an_early_page_sends_no_later_turn(browser: Browser, running: str, stage: Stage) -> None:
    await end(stage)
    stream = (await browser.open(f"{running}/live?from=0&end=50&after=355")).text
    turns = [json.loads(body) for body in re.findall(r"event: turns\ndata: (.*)\n", stream)]
    assert {tree[1]["id"] for trees in turns for tree in trees} <= {f"turn-{number}" for number in range(1, 51)}


async def test_the_stream_of_the_last_page_sends_the_turns_that_changed(browser: Browser, running: str, stage: Stage) -> None:
    await end(stage)
    stream = (await browser.open(f"{running}/live?from=100&end=600&after=355")).text
    (body,) = re.findall(r"event: turns\ndata: (.*)\n", stream)
    assert [tree[1]["id"] for tree in json.loads(body)][-2:] == ["turn-119", "turn-120"]


async def test_a_place_that_is_no_number_is_refused(browser: Browser, running: str) -> None:
    page = await browser.open(f"{running}?from=abc")
    assert (page.status_code, "must be numbers of calls" in page.text) == (422, True)


async def test_the_output_is_markdown_and_its_text(browser: Browser, running: str, stage: Stage) -> None:
    await end(stage)
    page = (await browser.open(running)).text
    assert "<strong>Done.</strong>" in page
    assert '<pre class="foreign" dir="auto">**Done.**</pre>' in page


async def test_a_call_is_shown_with_its_receipts_and_whether_they_are_genuine(browser: Browser, running: str) -> None:
    page = (await browser.open(f"{running}/calls/5")).text
    assert "argument 6" in page
    assert "content of 6" in page
    assert page.count("does not bear a signature of version 1 of the key") == 2


async def test_a_turn_shows_what_the_model_wrote(browser: Browser, running: str, stage: Stage) -> None:
    stage.memory.steps["exec_long"][7] = build_step(number=7, content=({"type": "text", "text": "<i>I think</i>"},))
    assert "&lt;i&gt;I think&lt;/i&gt;" in (await browser.open(f"{running}/turns/7")).text
    assert (await browser.open(f"{running}/turns/999")).status_code == 404


async def test_everything_is_stopped_after_a_page_that_asks(browser: Browser, stage: Stage, running: str) -> None:
    assert 'href="../../console/halt"' in (await browser.open(running)).text
    assert "Stop everything now" in (await browser.open("/console/halt")).text
    assert (await browser.send("/console/halt", {"do": "halt"})).status_code == 303
    assert "Nothing runs and nothing starts" in (await browser.open("/console/halt")).text
    await browser.send("/console/halt", {"do": "release"})
    assert "Stop everything now" in (await browser.open("/console/halt")).text


async def test_every_number_of_the_turns_is_the_apis(browser: Browser, running: str, stage: Stage) -> None:
    page = (await browser.open(f"{running}?from=100")).text
    headers = stage.owner("ann")
    turns = (await browser.http.get("/v1/executions/exec_long/turns?from=101&limit=100", headers=headers)).json()["turns"]
    calls = (await browser.http.get("/v1/executions/exec_long/calls?from=100&limit=100", headers=headers)).json()["calls"]
    for turn in turns:
        section = find_section(page, f"turn-{turn['number']}", tag='<section class="turn" ')
        (call,) = [call for call in calls if call["iteration"] == turn["number"]]
        usage = turn["usage"]
        expected = [str(usage["input_tokens"]), str(usage["output_tokens"]), turn["credits"], str(call["seq"] + 1)]
        expected += [str(call["result"]["latency_ms"]), call["credits"]] if call["result"] else []
        assert read_numbers(section)[: len(expected)] == expected


def list_tags(tree: list[Any] | str) -> set[str]:
    return set() if isinstance(tree, str) else {tree[0]}.union(*(list_tags(child) for child in tree[2]))


async def test_the_script_knows_every_element_of_what_is_streamed(browser: Browser, running: str, stage: Stage) -> None:
    await end(stage)
    stage.memory.executions["exec_long"] = replace(stage.memory.executions["exec_long"], error="it broke")
    stream = (await browser.open(f"{running}/live?from=0&end=50&after=0")).text
    sent = [json.loads(body) for body in re.findall(r"^data: (.*)$", stream, re.MULTILINE)]
    trees = [tree for body in sent for tree in (body.values() if isinstance(body, dict) else body)]
    script = load_assets()[1]["console.js"].content.decode()
    known = set(re.findall(r"[a-z0-9]+", "".join(re.findall(r"new Set\(\s*\(?(\".*?\")\)?\.split", script, re.DOTALL))))
    tags = set().union(*map(list_tags, trees))
    assert {"section", "details", "rect"} <= tags
    assert tags <= known
