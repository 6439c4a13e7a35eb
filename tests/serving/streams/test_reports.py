"""How far a call is: what each format says of it, when, and until when."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from ferryman.domain.calls.call import TicketState
from ferryman.domain.calls.progress import CallProgress
from ferryman.domain.conversations.position import BEGINNING
from ferryman.domain.executions.execution import Status
from ferryman.serving.streams.choice import StreamFormat, create_projection
from tests.builders import build_settled_ticket, build_ticket

from .test_questions import read, tell, watch

HALF = CallProgress(done=1, total=2, message="halfway")
SENT = build_ticket(state=TicketState.SENT, progress=HALF)
REPORTED = {"done": 1, "total": 2, "message": "halfway"}


@pytest.mark.parametrize(
    ("name", "report"),
    [
        ("ferryman", {"seq": 0, "id": "c", "name": "http_get", **REPORTED}),
        ("message", {"type": "tool_progress", "toolCallId": "c", "name": "http_get", **REPORTED}),
        (
            "ag-ui",
            {
                "type": "CUSTOM",
                "name": "tool_progress",
                "value": {"toolCallId": "e.1.0", "toolCallName": "http_get", **REPORTED},
            },
        ),
        (
            "vercel",
            {
                "type": "data-tool-progress",
                "transient": True,
                "data": {"toolCallId": "e.1.0", "toolName": "http_get", **REPORTED},
            },
        ),
    ],
)
def test_each_format_says_once_how_far_a_call_is(name: str, report: dict[str, Any]) -> None:
    assert read(tell(name, watch(SENT), watch(SENT))) == [report]


def test_another_report_is_told_and_one_of_a_call_with_a_result_is_not() -> None:
    further = replace(SENT, progress=replace(HALF, done=2))
    over = build_settled_ticket(progress=HALF)
    assert [body["done"] for body in read(tell("ferryman", watch(SENT), watch(further), watch(over)))] == [1, 2]


def test_nothing_is_told_of_calls_of_an_execution_that_has_ended() -> None:
    assert tell("message", watch(SENT, status=Status.FAILED)) == []


def test_it_is_told_after_the_call_itself() -> None:
    frames = create_projection(StreamFormat.MESSAGE, BEGINNING).render(watch(SENT))
    kinds = [json.loads(frame.data)["type"] for frame in frames]
    assert kinds[-2:] == ["tool_call", "tool_progress"]


def test_a_call_that_another_asked_for_is_told_as_one_of_the_call_of_the_model() -> None:
    sub = build_ticket(seq=1, parent=0, call="sub", state=TicketState.SENT, progress=HALF)
    (report,) = read(tell("message", watch(build_ticket(state=TicketState.SENT), sub)))
    assert report["toolCallId"] == "c"
