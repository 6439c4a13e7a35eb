"""Records: everything about an execution as JSON, and the messages that the model read, rebuilt from it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta, timezone
from decimal import Decimal
from math import inf, nan
from typing import Any

import pytest

from ferryman.domain.calls import refusal
from ferryman.domain.calls.approved import ApprovedSend
from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.credits import ledger
from ferryman.domain.executions.execution import Status
from ferryman.domain.executions.usage import Usage
from ferryman.domain.labels.label import READ
from ferryman.domain.owners.cap import Cap, CapKind
from ferryman.domain.records import document, event
from ferryman.domain.records.record import Record
from tests.builders import (
    START,
    build_execution,
    build_policy,
    build_settled_ticket,
    build_setup,
    build_step,
    build_ticket,
)

LATER = START + timedelta(seconds=1, microseconds=20)
RESULT = ToolCallResult("http_get", "body", url="https://a.test/", response_status=200, latency_ms=12)
EXECUTION = build_execution(
    status=Status.COMPLETED,
    input="Paris",
    started_at=START,
    completed_at=LATER,
    iterations=2,
    credits_used=Decimal("1.50"),
    credits_reserved=Decimal(100),
    usage=Usage(input_tokens=3),
    tool_calls=(RESULT,),
    tool_calls_total=1,
    output="Done.",
    slice=2,
)
STEPS = (
    build_step(content=({"type": "text", "text": "hm"},), calls=2),
    build_step(number=2, first_call=2, calls=1, event=7),
    build_step(number=3, first_call=3, event=10),
)
REFUSED = ToolCallResult.from_refusal("http_get", refusal.HALTED)
TICKETS = (
    build_settled_ticket(call="c0"),
    build_settled_ticket(seq=1, call="c1", result=REFUSED),
    build_settled_ticket(seq=2, step=2, call="c2"),
)
ENTRY = ledger.record_reservation(EXECUTION, Decimal(100), at=START)
ENDED = ledger.record_release(EXECUTION, tokens=Decimal(0), rest=Decimal(1), at=START)
RECORD = Record(execution=EXECUTION, opening=build_setup(), steps=STEPS, tickets=TICKETS, entries=(ENDED, ENTRY))


RECORDED = {
    "execution_id": "e",
    "task_id": "t",
    "status": "completed",
    "labels": {},
    "input": "Paris",
    "created_at": "2026-11-21T12:00:00Z",
    "scheduled_for": None,
    "started_at": "2026-11-21T12:00:00Z",
    "completed_at": "2026-11-21T12:00:01.000020Z",
    "iterations": 2,
    "credits_used": "1.5",
    "credits_reserved": "100",
    "credits_held": "0",
    "usage": {"input_tokens": 3, "output_tokens": 0, "cache_read_tokens": 0, "cache_write_tokens": 0},
    "tool_calls": [document.serialize_row(RESULT)],
    "tool_calls_total": 1,
    "cancel_requested": False,
    "slice": 2,
    "output": "Done.",
    "error": None,
}
PERSONS = {"person": "person_1", "cancelled_by": "owner", "taken_over_by": "person_2"}
PLACED = replace(EXECUTION, workspace="ws_1", agent="agent_1", conversation="talk", **PERSONS)
PLACE = {
    **{"workspace_id": "ws_1", "agent_id": "agent_1", "person_id": "person_1", "conversation_id": "talk"},
    "cancelled_by": "owner",
}


def test_an_execution_is_written_with_the_names_of_the_api() -> None:
    place = {"workspace_id": EXECUTION.workspace, "agent_id": EXECUTION.agent}
    place |= dict.fromkeys(("person_id", "conversation_id", "answer", "cancelled_by", "taken_over_by", "question"))
    place |= {"waiting_for": None, "waiting_since": None}
    assert document.serialize_execution(EXECUTION) == {**RECORDED, **place}
    assert document.serialize_execution(PLACED) == {
        **RECORDED,
        **PLACE,
        **{"taken_over_by": "person_2", "answer": None, "question": None, "waiting_for": None, "waiting_since": None},
    }


def test_a_record_tells_where_an_execution_acts_unless_that_is_where_all_did_before_there_were_workspaces() -> None:
    assert document.serialize_recorded(EXECUTION) == RECORDED
    assert document.serialize_recorded(PLACED) == {**RECORDED, **PLACE}


def test_a_record_tells_how_long_an_execution_waited_for_people_where_it_did() -> None:
    assert document.serialize_recorded(replace(EXECUTION, waited_s=60.5)) == {**RECORDED, "waited_s": 60.5}


def test_a_call_has_who_approved_it_where_a_person_was_asked() -> None:
    approved = ApprovedSend(approval="appr_1", digest="d", by="person_1", at=START)
    written = document.serialize_ticket(build_ticket(approval="appr_1", form_digest="d", approved=approved))
    assert (written["approval"], written["form_digest"], written["approved"]["by"]) == ("appr_1", "d", "person_1")
    assert not {"approval", "form_digest", "approved"} & document.serialize_ticket(build_ticket()).keys()


def test_a_record_tells_which_message_an_execution_answers_where_it_does() -> None:
    answer = replace(PLACED, question=3, answer=4)
    assert document.serialize_recorded(answer) == {**RECORDED, **PLACE, "question": 3, "answer": 4}


def test_an_opening_tells_of_a_history_where_there_is_one() -> None:
    first, later = build_setup(), build_setup(history=({"role": "user", "content": "Hello."},), label=READ)
    assert {"history", "label"} & document.serialize_setup(first).keys() == set()
    assert document.serialize_setup(later)["history"] == [{"role": "user", "content": "Hello."}]


def test_the_first_event_and_the_last_tell_where_and_for_whom() -> None:
    started, finished = event.build_started(PLACED), event.build_finished(PLACED, after=1)
    assert started is not None
    place = {name: PLACE[name] for name in ("workspace_id", "agent_id", "person_id", "conversation_id")}
    assert started.body == {"execution_id": "e", "task_id": "t", **place}
    assert finished.body["cancelled_by"] == "owner"
    unplaced = event.build_started(EXECUTION), event.build_finished(EXECUTION, after=1)
    assert [PLACE.keys() & set(item.body) for item in unplaced if item is not None] == [set(), set()]


def test_a_policy_without_caps_is_written_as_before_there_were_any() -> None:
    assert "caps" not in document.serialize(build_policy())


def test_an_audit_row_is_a_result_without_its_parts() -> None:
    assert document.serialize_row(RESULT).keys() == document.serialize_result(RESULT).keys() - {"parts"}


def test_a_result_is_written_with_all_its_fields_and_its_latency_is_a_float() -> None:
    result = document.serialize_result(RESULT)
    assert (len(result), result["latency_ms"], type(result["latency_ms"])) == (14, 12.0, float)
    assert (result["tool"], result["content"], result["url"], result["blocked"]) == (
        "http_get",
        "body",
        "https://a.test/",
        False,
    )


@pytest.mark.parametrize("latency", [None, nan, inf])
def test_a_latency_that_is_no_number_is_null(latency: float | None) -> None:
    assert document.serialize_result(replace(RESULT, latency_ms=latency))["latency_ms"] is None


def test_a_call_is_written_without_its_sealed_arguments_and_its_epoch() -> None:
    ticket = build_settled_ticket(
        seq=4, step=3, call="c", attempt=1, sent_at=START, deadline=LATER, display_arguments={"a": [Decimal("2.0")]}
    )
    assert document.serialize_ticket(ticket) == {
        "seq": 4,
        "parent": None,
        "iteration": 3,
        "id": "c",
        "tool": "http_get",
        "called_as": None,
        "arguments": {"a": ["2"]},
        "state": "settled",
        "attempt": 1,
        "in_doubt": False,
        "label": {"integrity": "trusted", "confidentiality": "owner", "sources": [], "more": False},
        "created_at": "2026-11-21T12:00:00Z",
        "sent_at": "2026-11-21T12:00:00Z",
        "deadline": "2026-11-21T12:00:01.000020Z",
        "settled_at": "2026-11-21T12:00:00Z",
        "result": document.serialize_result(ToolCallResult("http_get", "body", response_status=200)),
    }


def test_a_call_under_way_has_no_result() -> None:
    assert document.serialize_ticket(build_ticket())["result"] is None


def test_a_setup_keeps_the_stored_name_of_its_time_limit_and_its_reals_are_floats() -> None:
    written = document.serialize_setup(build_setup(temperature=1, timeout_s=60, price={"input": "3"}))
    assert (written["patience_s"], type(written["patience_s"]), "timeout_s" in written) == (60.0, float, False)
    assert (written["temperature"], type(written["temperature"])) == (1.0, float)
    assert (written["price"], written["max_credits"], written["started_at"]) == ({"input": "3"}, "100", "2026-11-21T12:00:00Z")


def test_a_setup_whose_model_takes_no_temperature_has_null() -> None:
    assert document.serialize_setup(build_setup())["temperature"] is None


def test_a_policy_and_a_turn_are_written_with_all_their_fields() -> None:
    policy = document.serialize(
        build_policy(declared={"look": "f"}, caps=(Cap(kind=CapKind.TASK, id="t", credits=Decimal("7.10")),))
    )
    assert (policy["owner"], policy["plan"]["credits_per_month"], policy["tools"]) == ("o", "55000", [])
    assert (policy["declared"], policy["caps"]) == ({"look": "f"}, [{"kind": "task", "id": "t", "credits": "7.1"}])
    step = document.serialize(STEPS[0])
    assert (step["number"], step["credits"], step["content"]) == (1, "1", [{"type": "text", "text": "hm"}])


@pytest.mark.parametrize(("number", "written"), [(1.5, 1.5), (nan, None), (-inf, None), (1, 1), (True, True)])
def test_a_number_that_is_not_finite_is_null_and_any_other_is_itself(number: Any, written: Any) -> None:
    content = document.serialize(build_step(content=({"x": number},)))["content"]
    assert (content[0]["x"], type(content[0]["x"])) == (written, type(written))


@pytest.mark.usefixtures("tokyo")
def test_times_are_written_in_utc_whatever_their_zone() -> None:
    abroad = START.astimezone(timezone(timedelta(hours=9)))
    assert document.serialize(build_step(at=abroad))["at"] == "2026-11-21T12:00:00Z"


def test_a_record_is_written_in_seven_parts_and_the_ledger_in_order() -> None:
    written = document.serialize_record(replace(RECORD, execution=replace(EXECUTION, policy=build_policy())))
    assert written["execution"] == document.serialize_recorded(EXECUTION)
    assert written["opening"] == document.serialize_setup(build_setup())
    assert written["policy"] == document.serialize(build_policy())
    assert written["steps"] == [document.serialize(step) for step in STEPS]
    assert written["calls"] == [document.serialize_ticket(ticket) for ticket in TICKETS]
    assert [event["number"] for event in written["events"]] == list(range(1, 12))
    assert written["ledger"] == [document.serialize_entry(entry) for entry in (ENTRY, ENDED)]
    assert len(written) == 7


def test_an_entry_of_the_ledger_has_its_id_its_time_and_its_postings() -> None:
    assert document.serialize_entry(ENTRY) == {
        "id": "e.start",
        "at": "2026-11-21T12:00:00Z",
        "postings": [{"account": "owner:o", "credits": "-100"}, {"account": "execution:e", "credits": "100"}],
    }


def test_an_execution_that_ended_before_its_setup_has_neither_setup_nor_policy() -> None:
    written = document.serialize_record(replace(RECORD, opening=None, steps=(), tickets=()))
    assert (written["opening"], written["policy"], written["calls"]) == (None, None, [])


def read(number: int, record: Record = RECORD) -> list[Any]:
    """Return the messages that the model read before this turn."""
    return record.build_prompt(record.steps[number - 1], finders=())[1]


FIRST = [{"role": "user", "content": "p"}]
SECOND = [
    *FIRST,
    {"role": "assistant", "content": [{"type": "text", "text": "hm"}]},
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "c0", "content": "body"},
            {"type": "tool_result", "tool_use_id": "c1", "content": REFUSED.content, "is_error": True},
        ],
    },
]


def test_the_model_reads_the_prompt_and_then_each_turn_with_the_answers_to_its_calls() -> None:
    assert (read(1), read(2)) == (FIRST, SECOND)
    answer = {"type": "tool_result", "tool_use_id": "c2", "content": "body"}
    assert read(3) == [*SECOND, {"role": "assistant", "content": []}, {"role": "user", "content": [answer]}]


def test_a_call_that_has_no_ticket_or_no_result_has_no_answer() -> None:
    record = replace(RECORD, tickets=(TICKETS[0], build_ticket(seq=1)))
    assert read(2, record)[-1]["content"] == SECOND[-1]["content"][:1]
