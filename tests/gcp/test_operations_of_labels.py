"""Labels and the flow policy ask the cloud for nothing: a task costs the same operations with them and without."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from bench.operations.counting import BATCH_READS, TRANSACTIONS, WRITES
from bench.operations.document import BYTES
from bench.operations.model import CREDENTIAL, HOST, CountingModel
from bench.operations.system import CountedSystem, run_system
from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.calls.flow import CallFlow
from ferryman.loop import calls, flow, journal
from ferryman.tools import execute_call

TURNS = 6
TARGET = f"https://{HOST}/issues"
PROMPT = f"Read what is new, and post it with {CREDENTIAL} to {TARGET}."


def choose(turn: int, number: int) -> tuple[str, Mapping[str, Any]]:
    """Return a call that reads, or every third turn one that sends something to where the prompt says."""
    if turn % 3 == 2:
        return "api_call", {"method": "POST", "url": TARGET, "credential": CREDENTIAL, "body": {"text": "News"}}
    return "api_call", {"method": "GET", "url": f"https://{HOST}/x?turn={turn}&n={number}", "credential": CREDENTIAL}


async def count(system: CountedSystem) -> tuple[Counter[Any], Sequence[str | None]]:
    """Run the task, and return what it requested for, without the lengths of what is stored, and why its calls could go."""
    system.counts.clear()
    execution = await system.start_execution()
    await system.deliver(execution, CountingModel(TURNS, 1, lambda: system.snapshot(execution), choose=choose))
    counted = system.snapshot(execution)
    tickets = await system.operator_store.tickets(execution)
    # the upstream has no place for what is posted, and says so: it was sent
    assert [ticket.result and ticket.result.response_status for ticket in tickets] == [200, 200, 404] * 2
    reasons = [None if ticket.flow is None else ticket.flow.reason for ticket in tickets]
    return Counter({key: number for key, number in counted.items() if key[1] not in BYTES.values()}), reasons


async def test_a_task_asks_for_the_same_operations_with_labels_and_without(monkeypatch: pytest.MonkeyPatch) -> None:
    async with run_system(4_000) as system:
        changed = await system.client.patch(f"/v1/tasks/{system.task}", json={"task_prompt": PROMPT})
        assert changed.status_code == 200, changed.text
        await count(system)  # what new instances ask for once
        labelled, reasons = await count(system)
        assert reasons == ["untainted", "reads", "trusted", "reads", "reads", "trusted"]

        async def judge_nothing(deps: Any, execution: Any, state: Any, requested: Sequence[Any], label: Any) -> list[CallFlow]:
            return [flow.UNTAINTED for _ in requested]  # a call without any verdict would wait for a person

        def label_nothing(result: ToolCallResult, *_: Any, **__: Any) -> ToolCallResult:
            return result

        monkeypatch.setattr(flow, "judge_calls", judge_nothing)
        monkeypatch.setattr(flow.FlowState, "note_results", lambda *_: None)
        for module in (calls, execute_call):
            monkeypatch.setattr(module, "label_result", label_nothing)
        monkeypatch.setattr(journal.Run, "label_arguments", lambda _, ticket: ticket.label)
        unlabelled, reasons = await count(system)
        assert reasons == ["untainted"] * TURNS
    assert sum(number for key, number in labelled.items() if key[1] in (TRANSACTIONS, BATCH_READS, WRITES)) > TURNS
    assert labelled == unlabelled
