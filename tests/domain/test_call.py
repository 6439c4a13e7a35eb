"""Calls: the ten fields of a result and its audit row; who may claim a ticket, and when."""

from __future__ import annotations

import dataclasses
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import (
    Ticket,
    TicketState,
    ToolCallResult,
    claim_ticket,
    describe_parts,
    is_outcome_unknown,
    to_audit_row,
)
from ferryman.domain.calls.part import Part, PartKind
from ferryman.domain.stale import StaleError
from ferryman.domain.tools.tool import Repeatable
from tests.builders import START, build_settled_ticket, build_ticket


def test_a_result_is_a_dataclass_that_begins_with_the_ten_fields_in_their_order():
    assert [field.name for field in dataclasses.fields(ToolCallResult) if not field.kw_only] == [
        "tool",
        "content",
        "url",
        "method",
        "credential_used",
        "response_status",
        "response_size_bytes",
        "latency_ms",
        "blocked",
        "block_reason",
    ]


def test_a_blocked_result_has_its_reason_and_one_that_merely_failed_has_none():
    results = [
        ToolCallResult.from_refusal("http_get", why) for why in (refusal.refuse_address("a.test"), refusal.report_timeout(30))
    ]
    assert [(result.blocked, result.block_reason) for result in results] == [(True, "dns_validation_failed"), (False, None)]


def test_an_audit_row_keeps_a_thousand_characters_of_content_and_says_that_it_was_cut():
    row = to_audit_row(ToolCallResult("http_get", "x" * 1_001, url="https://a.test/", response_status=200))
    assert row.content == "x" * 1_000 + "... (truncated)"
    assert (row.url, row.response_status) == ("https://a.test/", 200)


def test_a_short_result_is_its_own_audit_row():
    result = ToolCallResult("http_get", "x" * 1_000)
    assert to_audit_row(result) == result


def test_a_refused_call_is_recorded_with_all_that_is_known_of_it():
    refused_call = refusal.refuse_leak("KEY")
    result = ToolCallResult.from_refusal("api_call", refused_call, url="https://a.test/", method="POST", credential="KEY")
    assert result == ToolCallResult(
        "api_call",
        refused_call.message,
        "https://a.test/",
        "POST",
        "KEY",
        blocked=True,
        block_reason="credential_leak",
        ok=False,
        code="credential_leak",
        suggestion="Take the credential out of the arguments: the executor adds it by itself.",
    )


@pytest.mark.parametrize("status", [None, 200, 404])
@pytest.mark.parametrize("content", ["<frame>", "Error: HTTP 404", "Error executing calculator: no table", '{"ok": false}'])
def test_neither_a_text_nor_a_status_says_that_a_call_failed(status, content):
    assert ToolCallResult("get_weather", content, response_status=status).ok


def test_a_refused_or_failed_call_has_its_code_and_what_to_do_next():
    result = ToolCallResult.from_refusal("http_get", refusal.report_timeout(30))
    assert (result.ok, result.code, result.suggestion) == (
        False,
        "timed_out",
        "Call the tool again later, or go on without it.",
    )


def test_a_result_without_parts_of_its_own_is_one_text():
    assert describe_parts(ToolCallResult("calculator", "42")).parts == (Part(kind=PartKind.TEXT, start=0, end=2),)


def test_an_empty_result_has_no_part():
    assert describe_parts(ToolCallResult("calculator", "")).parts == ()


def test_parts_that_a_tool_named_stay():
    part = Part(kind=PartKind.JSON, start=1, end=3)
    assert describe_parts(ToolCallResult("http_get", "<{}>", parts=(part,))).parts == (part,)


def test_an_audit_row_leaves_the_parts_to_the_call():
    assert to_audit_row(describe_parts(ToolCallResult("calculator", "42"))) == ToolCallResult("calculator", "42")


def test_an_audit_row_keeps_64_characters_of_a_name_and_2048_of_a_url():
    long = "x" * 5_000
    row = to_audit_row(ToolCallResult(long, "", url=long, method=long, credential_used=long))
    assert (len(row.tool), len(row.url), len(row.method), len(row.credential_used)) == (64, 2_048, 64, 64)


def test_a_row_keeps_a_bounded_part_of_whatever_the_model_wrote():
    long = "x" * 300_000
    row = to_audit_row(ToolCallResult(long, long, url=long, method=long, credential_used=long))
    assert sum(len(text) for text in (row.tool, row.content, row.url, row.method, row.credential_used)) < 3_500


@pytest.mark.parametrize(
    ("repeatable", "method", "unknown"),
    [
        *((Repeatable.KEYED, "POST", True), (Repeatable.KEYED, "DELETE", True), (Repeatable.NEVER, None, True)),
        *((Repeatable.KEYED, None, True), (Repeatable.KEYED, "GET", False), (Repeatable.KEYED, "get", False)),
        *((Repeatable.KEYED, "HEAD", False), (Repeatable.SAFE, None, False), (Repeatable.SAFE, "POST", False)),
    ],
)
def test_the_outcome_of_a_call_without_an_answer_is_unknown_where_it_may_have_changed_something(repeatable, method, unknown):
    assert is_outcome_unknown(ToolCallResult("api_call", "", method=method, ok=False), repeatable) is unknown


@pytest.mark.parametrize("known", [{"blocked": True}, {"response_status": 500}, {"ok": True}])
def test_the_outcome_of_a_call_that_was_blocked_answered_or_done_is_known(known):
    failed = ToolCallResult("api_call", "", method="POST", ok=False)
    assert not is_outcome_unknown(replace(failed, **known), Repeatable.KEYED)


MOMENT = timedelta(microseconds=1)
UNDER_WAY = timedelta(seconds=35)
DEADLINE = START + UNDER_WAY
SENT = build_ticket(state=TicketState.SENT, attempt=1, sent_at=START, deadline=DEADLINE)


def claim(ticket: Ticket, *, now: datetime = START, **changed: Any) -> Ticket:
    return claim_ticket(ticket, **{"epoch": 1, "stopped": False, "under_way": UNDER_WAY, **changed}, now=now)


def test_a_claimed_call_counts_as_sent_and_is_under_way_until_its_deadline():
    assert claim(build_ticket()) == SENT


def test_a_call_that_was_sent_is_claimed_again_from_its_deadline_on_and_keeps_the_time_of_its_first_sending():
    assert claim(SENT, now=DEADLINE) == dataclasses.replace(SENT, attempt=2, deadline=DEADLINE + UNDER_WAY)


def test_a_settled_call_is_returned_as_it_is_whatever_became_of_its_execution():
    settled = build_settled_ticket()
    assert claim(settled, epoch=2, stopped=True) is settled


@pytest.mark.parametrize(
    ("ticket", "changed", "why"),
    [
        (SENT, {"now": DEADLINE - MOMENT}, "^the call is already under way$"),
        (build_ticket(epoch=2), {}, "^the call is already under way$"),
        (build_ticket(), {"epoch": 2}, "^the call is already under way$"),
        (build_ticket(), {"stopped": True}, "^the execution was ended$"),
    ],
)
def test_a_call_is_not_claimed_beside_another_claim_or_after_the_end(ticket, changed, why):
    with pytest.raises(StaleError, match=why):
        claim(ticket, **changed)
