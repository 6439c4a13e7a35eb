"""Events: numbered once and for all, so that a watcher can come back."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

from ferryman.domain.calls.call import Ticket, ToolCallResult, to_audit_row
from ferryman.domain.executions.execution import Execution, Status, Step
from ferryman.domain.executions.usage import Usage
from ferryman.domain.records.event import count_numbers, derive_events
from tests.builders import START, build_execution, build_settled_ticket, build_step, build_ticket

LATER = START + timedelta(seconds=1)
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


def list_bodies(execution: Execution, steps: list[Step], tickets: list[Ticket]) -> list[tuple[Any, ...]]:
    events = derive_events(execution, steps, {ticket.seq: ticket for ticket in tickets})
    return [(event.kind, event.at, event.body) for event in events]


def test_an_event_says_what_happened_and_when():
    ended = replace(
        RUNNING,
        status=Status.FAILED,
        completed_at=LATER,
        credits_used=Decimal("2.50"),
        iterations=1,
        output="Half.",
        error="broken",
    )
    usage = Usage(input_tokens=3, output_tokens=4)
    content = ({"type": "text", "text": "hm"},)
    turn = build_step(content=content, calls=1, first_call=4, usage=usage, credits=Decimal("1.20"), at=LATER)
    called = build_settled_ticket(
        seq=4, call="c4", display_arguments={"url": "u"}, settled_at=LATER, result=ToolCallResult("http_get", "x" * 2_000)
    )
    assert list_bodies(ended, [turn], [called]) == [
        ("started", START, {"execution_id": "e", "task_id": "t"}),
        (
            "turn",
            LATER,
            {"iteration": 1, "text": "hm", "calls": 1, "input_tokens": 3, "output_tokens": 4, "credits": "1.2"},
        ),
        ("tool_call", START, {"seq": 4, "parent": None, "id": "c4", "name": "http_get", "arguments": {"url": "u"}}),
        ("tool_result", LATER, {"seq": 4, **asdict(to_audit_row(ToolCallResult("http_get", "x" * 2_000)))}),
        (
            "finished",
            LATER,
            {"status": "failed", "output": "Half.", "error": "broken", "credits_used": "2.5", "iterations": 1},
        ),
    ]


def test_the_calls_of_each_turn_are_numbered_from_its_own_event_on():
    done = replace(RUNNING, status=Status.COMPLETED, completed_at=START)
    steps = [step(1, 1, first_call=0, event=2), step(2, 2, first_call=1, event=5)]
    tickets = [build_settled_ticket(seq=seq, step=1 if seq == 0 else 2) for seq in range(3)]
    assert [number for number, _ in number_events(done, steps, tickets)] == list(range(1, 11))


def test_a_call_that_an_ended_execution_left_open_is_told_without_a_result_and_the_end_follows():
    done = replace(RUNNING, status=Status.KILLED, completed_at=START)
    events = number_events(done, [step(1, 1, first_call=0, event=2)], [build_ticket()])
    assert events == [(1, "started"), (2, "turn"), (3, "tool_call"), (5, "finished")]


def test_nothing_is_told_after_a_call_that_has_no_ticket_yet():
    events = number_events(RUNNING, [step(1, 2, first_call=0, event=2)], [build_settled_ticket(seq=1)])
    assert events == [(1, "started"), (2, "turn")]


def test_sub_calls_are_told_between_the_beginning_and_the_result_of_the_call_that_asked_for_them():
    done = replace(RUNNING, status=Status.COMPLETED, completed_at=START)
    steps = [step(1, 2, first_call=0, event=2), step(2, 1, first_call=7, event=13)]
    parents = {0: None, 1: None, 2: 0, 3: 2, 5: 0}
    tickets = [build_settled_ticket(seq=seq, parent=parent) for seq, parent in parents.items()]
    tickets.append(build_settled_ticket(seq=7, step=2))
    events = [*derive_events(done, steps, {ticket.seq: ticket for ticket in tickets})]
    assert [event.number for event in events] == list(range(1, len(events) + 1))
    rows = [(event.kind, event.body["seq"], event.body.get("parent")) for event in events if event.kind.startswith("tool")]
    began = [("tool_call", seq, parent) for seq, parent in [(0, None), (2, 0), (3, 2)]]
    assert rows[:6] == [*began, *[("tool_result", seq, None) for seq in (3, 2)], ("tool_call", 5, 0)]
    assert [seq for _, seq, _ in rows[6:]] == [5, 0, 1, 1, 7, 7]


def test_a_sub_call_is_told_while_the_call_that_asked_for_it_goes_on():
    steps = [step(1, 2, first_call=0, event=2)]
    tickets = [build_ticket(), build_ticket(seq=1), build_settled_ticket(seq=2, parent=0)]
    rows = [(number, kind) for number, kind in number_events(RUNNING, steps, tickets) if kind.startswith("tool")]
    assert rows == [(3, "tool_call"), (4, "tool_call"), (5, "tool_result")]


def test_calls_that_name_themselves_or_nobody_as_their_parent_are_not_told():
    steps = [step(1, 1, first_call=0, event=2)]
    strange = [build_settled_ticket(seq=seq, parent=parent) for seq, parent in ((1, 1), (2, 3), (3, 2), (4, 9))]
    events = number_events(replace(RUNNING, status=Status.COMPLETED), steps, [build_settled_ticket(), *strange])
    assert [kind for _, kind in events] == ["started", "turn", "tool_call", "tool_result", "finished"]


def test_an_execution_that_ended_without_a_time_is_told_as_finished_when_it_was_created():
    killed = build_execution(status=Status.KILLED)
    assert [event.at for event in derive_events(killed, [], {})] == [START]


def test_a_turn_takes_a_number_and_each_of_its_calls_two():
    assert [count_numbers(build_step(calls=calls)) for calls in (0, 1, 3)] == [1, 3, 7]
