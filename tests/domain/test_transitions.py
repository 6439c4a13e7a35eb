"""Transitions: what a settled call and a cancelled execution look like."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from ferryman.domain.calls.call import TicketState, ToolCallResult
from ferryman.domain.executions.execution import Status
from ferryman.domain.executions.lease import cancel_execution, settle_ticket
from tests.builders import START, build_execution, build_lease, build_ticket

LATER = START + timedelta(seconds=3)
RESULT = ToolCallResult("http_get", "body", response_status=200)


@pytest.mark.parametrize("in_doubt", [False, True])
def test_a_settled_call_has_its_result_its_time_and_its_doubt(in_doubt: bool) -> None:
    ticket = build_ticket(state=TicketState.SENT, attempt=1, sent_at=START)
    settled = settle_ticket(ticket, RESULT, now=LATER, in_doubt=in_doubt)
    assert settled == replace(ticket, state=TicketState.SETTLED, settled_at=LATER, result=RESULT, in_doubt=in_doubt)


def test_an_execution_that_has_not_started_is_killed_by_its_cancellation() -> None:
    queued = build_execution()
    assert cancel_execution(queued, by="person_1", now=LATER) == replace(
        queued,
        cancel_requested=True,
        cancelled_by="person_1",
        status=Status.KILLED,
        error="cancelled before it started",
        completed_at=LATER,
    )


def test_one_that_runs_is_flagged_and_ends_by_itself() -> None:
    running = build_execution(status=Status.RUNNING, started_at=START, lease=build_lease())
    assert cancel_execution(running, by="owner", now=LATER) == replace(running, cancel_requested=True, cancelled_by="owner")


def test_the_states_that_end_an_execution_are_all_but_queued_and_running() -> None:
    assert {status for status in Status if not status.terminal} == {Status.QUEUED, Status.RUNNING}
