"""The audit: what people read of an execution's full account."""

from __future__ import annotations

from typing import Any

import pytest

from ferryman.cli.audit import print_audit
from ferryman.cli.screen import Screen

MOMENT = "2026-11-23T07:00:00Z"


def build_call(seq: int, parent: int | None) -> dict[str, Any]:
    times = {"created_at": MOMENT, "sent_at": None, "deadline": None, "settled_at": None}
    names = {"id": f"id-{seq}", "iteration": 1, "tool": "http_get", "called_as": None, "arguments": {}, "state": "planned"}
    return {"seq": seq, "parent": parent, "attempt": 0, "in_doubt": False, "result": None, **names, **times}


def build_record(*calls: dict[str, Any]) -> dict[str, Any]:
    usage = {"input_tokens": 1, "output_tokens": 1, "cache_read_tokens": 0, "cache_write_tokens": 0}
    step = {"number": 1, "slice": 0, "at": MOMENT, "stop_reason": "tool_use", "usage": usage, "credits": "0", "content": []}
    execution = {"execution_id": "e", "task_id": "t", "status": "failed", "slice": 0, "output": None, "error": "none"}
    times = {"created_at": MOMENT, "started_at": MOMENT, "completed_at": MOMENT}
    money = {"credits_used": "0", "credits_reserved": "0", "credits_held": "0", "api_calls": 0, "iterations": 1}
    return {
        "execution": {**execution, **times, **money},
        "opening": None,
        "steps": [{**step, "prompt_digest": "0"}],
        "calls": calls,
        "events": [],
        "ledger": [],
    }


@pytest.mark.parametrize(
    ("parent", "line"),
    [(None, "call 3  http_get  planned, attempt 0"), (0, "call 3  http_get  planned, attempt 0, asked for by call 1")],
)
def test_a_call_is_shown_with_the_call_that_asked_for_it(
    capsys: pytest.CaptureFixture[str], parent: int | None, line: str
) -> None:
    print_audit(Screen(), build_record(build_call(2, parent)))
    assert line in [printed.strip() for printed in capsys.readouterr().out.splitlines()]
