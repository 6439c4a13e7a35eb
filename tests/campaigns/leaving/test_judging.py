"""The judge of answers that were stopped finds a record that replays otherwise, and credits that are charged twice."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.campaigns.leaving.judging import find_faults
from tests.loop.conftest import fetches, says
from tests.loop.test_stopping import StoppedChat, chat
from tests.replay.conftest import document

__all__ = ["chat"]


@pytest.fixture
async def record(chat: StoppedChat) -> dict[str, Any]:
    await chat.begin(fetches(1), says("In Harwich, I believe."))
    return json.loads(json.dumps(document(chat)))  # type: ignore[no-any-return] # JSON


async def test_an_answer_that_was_stopped_has_no_fault(record: dict[str, Any]) -> None:
    assert await find_faults(record) == []


async def test_a_charge_that_is_entered_twice_is_found(record: dict[str, Any]) -> None:
    twice = next(
        entry for entry in record["ledger"] if any(posting["account"] == "llm_tokens" for posting in entry["postings"])
    )
    record["ledger"].append({**twice, "id": f"{twice['id']}_again"})
    assert any("are still reserved" in fault for fault in await find_faults(record))


async def test_a_text_that_is_not_what_was_written_is_found(record: dict[str, Any]) -> None:
    record["execution"]["output"] = "In Ely."
    assert any(fault.startswith("replayed otherwise") for fault in await find_faults(record))
