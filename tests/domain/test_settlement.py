"""Settlements: a key holder's report of a call reads back as the ticket that was settled."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, timedelta, timezone
from typing import Any

import pytest

from ferryman.domain.calls.approved import ApprovedSend
from ferryman.domain.calls.call import TicketState, ToolCallResult
from ferryman.domain.receipts.settlement import read_settlement, write_settlement
from tests.builders import START, build_settled_ticket, build_ticket

SETTLED = build_settled_ticket(
    attempt=2,
    in_doubt=True,
    sent_at=START + timedelta(microseconds=1),
    deadline=START + timedelta(seconds=30),
    settled_at=START + timedelta(seconds=3),
    result=ToolCallResult("http_get", "é", url="https://a.test/", blocked=True, block_reason="x", latency_ms=1.5),
)
REPORT = write_settlement(SETTLED)


def test_a_report_reads_back_as_the_settled_ticket() -> None:
    assert read_settlement(build_ticket(), json.loads(json.dumps(REPORT))) == SETTLED


def test_who_approved_a_call_reads_back() -> None:
    approved = ApprovedSend(approval="appr_1", digest="ab", by="person_1", at=START, is_standing=True)
    sent = replace(SETTLED, approval="appr_1", form_digest="ab", approved=approved)
    assert read_settlement(build_ticket(), json.loads(json.dumps(write_settlement(sent)))) == sent


def test_a_call_that_waits_for_a_person_has_no_result() -> None:
    waiting = build_ticket(state=TicketState.WAITING, attempt=1, approval="appr_1", form_digest="ab")
    assert read_settlement(build_ticket(), json.loads(json.dumps(write_settlement(waiting)))) == waiting


def test_a_call_that_was_never_sent_has_neither_its_time_nor_a_deadline() -> None:
    refused = replace(SETTLED, attempt=0, in_doubt=False, sent_at=None, deadline=None)
    report = write_settlement(refused)
    assert (report["sent_at"], report["deadline"]) == (None, None)
    assert read_settlement(build_ticket(), report) == refused


def test_a_report_has_the_attempt_the_doubt_the_times_and_the_result() -> None:
    assert (
        REPORT.items()
        >= {
            "attempt": 2,
            "in_doubt": True,
            "sent_at": "2026-11-21T12:00:00.000001+00:00",
            "deadline": "2026-11-21T12:00:30+00:00",
            "settled_at": "2026-11-21T12:00:03+00:00",
        }.items()
    )
    assert len(REPORT["result"]) == 15


@pytest.mark.usefixtures("tokyo")
def test_times_are_read_in_utc_whatever_their_zone() -> None:
    abroad = START.astimezone(timezone(timedelta(hours=-5)))
    ticket = read_settlement(build_ticket(), {**REPORT, "settled_at": abroad.isoformat()})
    assert ticket.settled_at is not None
    assert (ticket.settled_at, ticket.settled_at.tzinfo) == (START, UTC)


@pytest.mark.parametrize("name", ["attempt", "in_doubt", "sent_at", "deadline", "settled_at", "result", "approval", "approved"])
def test_a_report_without_one_of_its_members_is_none(name: str) -> None:
    report: dict[str, Any] = {key: value for key, value in REPORT.items() if key != name}
    with pytest.raises(KeyError, match=name):
        read_settlement(build_ticket(), report)


@pytest.mark.parametrize("change", [{"attempt": "two"}, {"sent_at": "now"}, {"result": {"tool": "x"}}, {"sent_at": 5}])
def test_a_member_of_another_form_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError, KeyError)):
        read_settlement(build_ticket(), {**REPORT, **change})
