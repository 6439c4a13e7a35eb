"""The audit of an execution: its receipts as the API has them, and the verdict on the chain."""

from __future__ import annotations

import re

import pytest

from tests.builders import build_execution
from tests.receipts.runs import RUNS, finish_run
from tests.serving.conftest import Stage

from .conftest import Browser

PATH = "/console/executions/e/audit"


@pytest.fixture(autouse=True)
async def hashes(stage: Stage) -> list[str]:
    """Store the receipts of an execution that ran, and return their hashes in order."""
    run = await finish_run(next(iter(RUNS.values())))
    stage.owner("ann")
    stage.memory.executions["e"] = build_execution(id="e", owner="ann")
    stage.memory.receipts["e"] = run.stage.memory.receipts["e"]
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
