"""The record over HTTP: everything of an execution in one document, and no sealed byte."""

from __future__ import annotations

from dataclasses import replace

import httpx

from ferryman.domain.credits import ledger
from ferryman.inmemory.clock import START

from .conftest import Stage
from .test_events import finish
from .test_executions import started


async def test_a_record_holds_steps_calls_events_and_ledger(client: httpx.AsyncClient, task: str, stage: Stage) -> None:
    execution = await started(client, task)
    finish(stage.memory, execution)
    sealed = b"sealed bytes of the arguments"
    stage.memory.tickets[execution][0] = replace(stage.memory.tickets[execution][0], arguments=sealed)
    entry = ledger.record_reservation(stage.memory.executions[execution], stage.memory.tasks[task].max_credits, at=START)
    stage.memory.entries[entry.id] = entry
    answer = await client.get(f"/v1/executions/{execution}/record")
    record = answer.json()
    assert [event["kind"] for event in record["events"]] == ["started", "turn", "tool_call", "tool_result", "finished"]
    assert (record["steps"][0]["content"][0]["text"], record["calls"][0]["result"]["content"]) == ("Line one\nline two", "ok")
    assert [(posting["account"], posting["credits"]) for posting in record["ledger"][0]["postings"]] == [
        ("owner:ann", "-100"),
        (f"execution:{execution}", "100"),
    ]
    assert b"sealed" not in answer.content


async def test_another_owners_record_is_not_there(client: httpx.AsyncClient, task: str, stage: Stage) -> None:
    execution = await started(client, task)
    answer = await client.get(f"/v1/executions/{execution}/record", headers=stage.owner("bob"))
    assert answer.status_code == 404
