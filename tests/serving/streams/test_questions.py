"""Calls that a person is asked about: what each format says of them, and when."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from ferryman.domain.calls.approved import ApprovedSend
from ferryman.domain.calls.call import Ticket, TicketState, ToolCallResult
from ferryman.domain.conversations.position import BEGINNING, parse_position
from ferryman.domain.conversations.watched import WatchedAnswer
from ferryman.domain.executions.execution import Status
from ferryman.serving.streams.choice import StreamFormat, create_projection
from ferryman.serving.streams.frame import Frame
from tests.builders import START, build_execution, build_settled_ticket, build_step, build_ticket

DIGEST = "ab" * 32
QUESTION = {"approval": "appr_1", "form_digest": DIGEST}
USE = {"type": "tool_use", "id": "c", "name": "http_get", "input": {}}
WAITING = build_ticket(state=TicketState.WAITING, **QUESTION)
SEND = ApprovedSend(approval="appr_1", digest=DIGEST, by="person_1", at=START)
APPROVED = build_settled_ticket(approved=SEND, **QUESTION)
REFUSAL = ToolCallResult("http_get", "Error: no", blocked=True, block_reason="denied", ok=False, code="denied")
DENIED = build_settled_ticket(result=REFUSAL, **QUESTION)
SUB = build_ticket(seq=1, parent=0, call="sub", state=TicketState.WAITING, approval="appr_2", form_digest="cd" * 32)


def watch(*tickets: Ticket, status: Status = Status.RUNNING) -> WatchedAnswer:
    """Return an answer whose first turn has asked for one call."""
    step = build_step(content=(USE,), calls=1, stop_reason="tool_use")
    execution = build_execution(status=status, started_at=START, conversation="conv_1", answer=2, question=1)
    return WatchedAnswer(execution=execution, steps=(step,), tickets={ticket.seq: ticket for ticket in tickets})


def tell(name: str, *states: WatchedAnswer) -> list[Frame]:
    """Return the frames without an id, in the order in which they come, but for the progress."""
    projection = create_projection(StreamFormat(name), BEGINNING)
    frames = [frame for state in states for frame in projection.render(state)]
    return [frame for frame in frames if not frame.id and frame.event != "progress"]


def read(frames: list[Frame]) -> list[Any]:
    return [json.loads(frame.data) for frame in frames]


@pytest.mark.parametrize(
    ("name", "question"),
    [
        ("ferryman", {"approval": "appr_1", "seq": 0, "id": "c", "name": "http_get", "digest": DIGEST}),
        (
            "message",
            {"type": "approval_required", "approvalId": "appr_1", "toolCallId": "c", "name": "http_get", "digest": DIGEST},
        ),
        (
            "ag-ui",
            {
                "type": "CUSTOM",
                "name": "approval_required",
                "value": {"approvalId": "appr_1", "toolCallId": "e.1.0", "toolCallName": "http_get", "digest": DIGEST},
            },
        ),
        ("vercel", {"type": "tool-approval-request", "approvalId": "appr_1", "toolCallId": "e.1.0"}),
    ],
)
def test_each_format_says_once_that_a_call_waits(name: str, question: dict[str, Any]) -> None:
    assert read(tell(name, watch(WAITING), watch(WAITING))) == [question]


def test_the_numbered_events_say_who_approved_what_was_sent() -> None:
    frames = tell("ferryman", watch(WAITING), watch(APPROVED))
    assert [frame.event for frame in frames] == ["waiting", "decided"]
    body = json.loads(frames[-1].data)
    assert (body["verdict"], body["by"], body["digest"]) == ("approved", "person_1", DIGEST)


@pytest.mark.parametrize(("ticket", "verdict"), [(APPROVED, "approved"), (DENIED, "denied")])
def test_a_watcher_who_comes_later_is_told_what_was_decided(ticket: Ticket, verdict: str) -> None:
    (decision,) = read(tell("message", watch(ticket)))
    assert (decision["type"], decision["verdict"]) == ("approval_decided", verdict)


def test_a_watcher_who_comes_back_is_told_again_what_still_waits() -> None:
    first = create_projection(StreamFormat.MESSAGE, BEGINNING)
    last = [frame.id for frame in first.render(watch(WAITING)) if frame.id][-1]
    position = parse_position(last)
    assert position is not None
    again = create_projection(StreamFormat.MESSAGE, position).render(watch(WAITING))
    assert [json.loads(frame.data)["type"] for frame in again] == ["approval_required"]


def test_a_call_that_was_not_seen_yet_is_not_asked_about() -> None:
    step = build_step(content=(USE, {**USE, "id": "c2"}), calls=2, stop_reason="tool_use")
    assert tell("vercel", replace(watch(WAITING), steps=(step,))) == []


def test_a_denied_call_is_denied_in_the_ai_sdk() -> None:
    projection = create_projection(StreamFormat.VERCEL, BEGINNING)
    types = [json.loads(frame.data)["type"] for state in (watch(WAITING), watch(DENIED)) for frame in projection.render(state)]
    place = types.index("tool-approval-response")
    assert types[place - 1 : place + 2] == ["tool-approval-request", "tool-approval-response", "tool-output-denied"]


def test_a_changed_call_is_asked_about_in_the_place_of_the_one_it_was_made_of() -> None:
    edited = replace(WAITING, state=TicketState.INTENDED)
    first, second = read(tell("vercel", watch(WAITING), watch(edited, SUB)))
    assert (first["approvalId"], second["approvalId"]) == ("appr_1", "appr_2")
    assert first["toolCallId"] == second["toolCallId"]


def test_a_call_that_is_asked_about_again_has_another_approval() -> None:
    again = replace(WAITING, approval="appr_3")
    assert [body["approvalId"] for body in read(tell("message", watch(WAITING), watch(again)))] == ["appr_1", "appr_3"]


def test_what_waits_when_an_answer_is_stopped_is_withdrawn() -> None:
    decision = read(tell("message", watch(WAITING), watch(WAITING, status=Status.KILLED)))[-1]
    assert decision["verdict"] == "withdrawn"


@pytest.mark.parametrize(("unanswered", "verdict"), [("denied", "denied"), ("approval_expired", "expired")])
def test_a_question_of_a_host_that_nobody_answered_is_told_so_although_the_call_went_on(unanswered: str, verdict: str) -> None:
    over = build_settled_ticket(unanswered=unanswered, **QUESTION)
    (waiting, decided) = read(tell("ferryman", watch(WAITING), watch(over)))
    assert (waiting["approval"], decided["verdict"]) == ("appr_1", verdict)
