"""Events: numbered once and for all, so that a watcher can come back."""

from __future__ import annotations

from dataclasses import replace

from ferryman.domain.calls.call import Ticket
from ferryman.domain.executions.execution import Status, Step
from ferryman.domain.records.event import derive_events
from tests.builders import START, build_execution, build_settled_ticket, build_step, build_ticket

RUNNING = build_execution(status=Status.RUNNING, created_at=START, started_at=START, events=1)


def step(number: int, calls: int, *, first_call: int, event: int) -> Step:
    content = ({"type": "text", "text": f"turn {number}"},)
    return build_step(number=number, content=content, first_call=first_call, calls=calls, event=event)


def ticket(seq: int, *, settled: bool) -> Ticket:
    return build_settled_ticket(seq=seq) if settled else build_ticket(seq=seq)


def number_events(execution, steps, tickets):
    return [(event.number, event.kind) for event in derive_events(execution, steps, {ticket.seq: ticket for ticket in tickets})]


def test_nothing_is_told_before_the_execution_starts():
    assert number_events(replace(RUNNING, status=Status.QUEUED, started_at=None), [], []) == []


def test_a_call_under_way_is_told_and_what_follows_waits_for_its_result():
    events = number_events(RUNNING, [step(1, 2, first_call=0, event=2)], [ticket(0, settled=False), ticket(1, settled=False)])
    assert events == [(1, "started"), (2, "turn"), (3, "tool_call")]


def test_a_finished_execution_is_told_to_its_end_with_numbers_that_rise_by_one():
    done = replace(RUNNING, status=Status.COMPLETED, completed_at=START)
    steps = [step(1, 2, first_call=0, event=2), step(2, 0, first_call=2, event=7)]
    events = number_events(done, steps, [ticket(0, settled=True), ticket(1, settled=True)])
    kinds = ["started", "turn", "tool_call", "tool_result", "tool_call", "tool_result", "turn", "finished"]
    assert events == list(enumerate(kinds, start=1))


def test_an_event_keeps_its_number_as_the_execution_goes_on():
    steps = [step(1, 2, first_call=0, event=2)]
    early = number_events(RUNNING, steps, [ticket(0, settled=True), ticket(1, settled=False)])
    late = number_events(RUNNING, steps, [ticket(0, settled=True), ticket(1, settled=True)])
    assert late[: len(early)] == early


def test_an_execution_killed_in_the_queue_is_told_as_finished():
    killed = replace(RUNNING, status=Status.KILLED, started_at=None, completed_at=START)
    assert number_events(killed, [], []) == [(1, "finished")]
