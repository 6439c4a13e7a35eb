"""The audit of an execution: its receipts as the API has them, and the verdict on the chain."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal

import pytest

from tests.receipts.runs import RUNS, finish_run
from tests.serving.conftest import Stage

from .conftest import Browser
from .readback import read_numbers

PATH = "/console/executions/e/audit"


@pytest.fixture(autouse=True)
async def hashes(stage: Stage, browser: Browser) -> list[str]:
    """Store an execution that ran with its receipts, sign its owner in, and return their hashes in order."""
    run = await finish_run(next(iter(RUNS.values())))
    key = stage.owner("o")["Authorization"].removeprefix("Bearer ")
    assert (await browser.sign_in(key)).status_code == 303
    memory, ran = stage.memory, run.stage.memory
    for stored in ("executions", "openings", "steps", "tickets", "receipts"):
        getattr(memory, stored)["e"] = getattr(ran, stored)["e"]
    memory.entries.update(ran.entries)
    stage.receipt_keys.clear()
    stage.receipt_keys.update({int(version): bytes.fromhex(key) for version, key in run.receipts["keys"].items()})
    return [entry["hash"] for entry in run.receipts["entries"]]


async def test_every_receipt_is_shown_in_order(browser: Browser, hashes: list[str]) -> None:
    page = await browser.open(PATH)
    assert re.findall(r'data-label="Hash"><code>(.*?)</code>', page.text) == hashes


async def test_a_whole_chain_is_genuine(browser: Browser) -> None:
    assert "WHOLE AND GENUINE" in (await browser.open(PATH)).text


async def test_a_chain_under_another_key_is_wrong(browser: Browser, stage: Stage) -> None:
    stage.receipt_keys.update({version: bytes(reversed(key)) for version, key in stage.receipt_keys.items()})
    page = await browser.open(PATH)
    assert re.search(r'id="verdict" class="notice bad">.*does not bear a signature', page.text)


async def test_each_receipt_is_found_by_its_number(browser: Browser, hashes: list[str]) -> None:
    page = await browser.open(PATH)
    assert re.findall(r'<tr id="receipt-(\d+)"', page.text) == [str(number) for number in range(len(hashes))]


async def test_a_record_that_is_as_it_was_signed_fits(browser: Browser) -> None:
    assert "Every part of the record matches the receipts." in (await browser.open(PATH)).text


async def test_a_record_that_was_changed_does_not_fit(browser: Browser, stage: Stage) -> None:
    ticket = stage.memory.tickets["e"][0]
    stage.memory.tickets["e"][0] = replace(ticket, attempt=ticket.attempt + 1)
    page = await browser.open(PATH)
    assert re.search(r'id="fit" class="notice bad">.*<code>calls/0</code>', page.text)


async def test_the_arguments_of_every_call_are_printed(browser: Browser, stage: Stage) -> None:
    page = await browser.open(PATH)
    for ticket in stage.memory.tickets["e"].values():
        assert f'<td data-label="Tool"><bdi class="foreign">{ticket.called_as or ticket.tool}</bdi>' in page.text
    assert page.text.count('data-label="Arguments"') == len(stage.memory.tickets["e"])


async def test_every_posting_of_the_ledger_is_printed(browser: Browser, stage: Stage) -> None:
    page = await browser.open(PATH)
    amounts = re.findall(r'data-label="Account">.*?value="(-?[0-9.]+)"', page.text, re.DOTALL)
    entries = [entry for entry in stage.memory.entries.values() if entry.execution == "e"]
    expected = [posting.credits for entry in entries for posting in entry.postings]
    assert sorted(map(Decimal, amounts)) == sorted(expected)
    assert read_numbers(page.text)


async def test_a_record_of_many_calls_is_left_to_the_command(browser: Browser, stage: Stage) -> None:
    stage.memory.executions["e"] = replace(stage.memory.executions["e"], tool_calls_total=201)
    page = await browser.open(PATH)
    assert "The record was not compared with the receipts here." in page.text
    assert "WHOLE AND GENUINE" in page.text
