"""Which moments follow a position: none too early, none twice, and the same numbers for everyone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ferryman.domain.calls.call import Ticket
from ferryman.domain.conversations.live import LiveBlock, LivePosition, LiveTurn, locate_end
from ferryman.domain.conversations.position import BEGINNING, Stage, StreamPosition
from ferryman.domain.conversations.watched import WatchedAnswer
from ferryman.domain.executions.execution import Status, Step
from ferryman.serving.streams import moments
from ferryman.serving.streams.following import follow
from tests.builders import START, build_execution, build_settled_ticket, build_step, build_ticket

QUEUED = build_execution()
RUNNING = build_execution(status=Status.RUNNING, started_at=START)
USES = tuple({"type": "tool_use", "id": f"tc_{number}", "name": "http_get", "input": {}} for number in range(2))
TWO_CALLS = build_step(content=USES, stop_reason="tool_use", calls=2)
THINKING = StreamPosition(event=1, stage=Stage.THINKING)
FAILED = replace(
    RUNNING, status=Status.FAILED, completed_at=START, output="No credits are left.", error="no credits are left", events=3
)


def list_kinds(watched: WatchedAnswer, position: StreamPosition = BEGINNING) -> list[type[moments.Moment]]:
    return [type(moment) for moment in follow(position, watched)]


def settle(number: int, **fields: object) -> Ticket:
    return build_settled_ticket(seq=number, call=f"tc_{number}", **fields)


def test_of_a_turn_whose_calls_were_not_all_read_yet_none_is_shown() -> None:
    watched = WatchedAnswer(execution=RUNNING, steps=[TWO_CALLS], tickets={0: settle(0)})
    assert list_kinds(watched)[-1] is moments.TurnEnd


def test_a_call_ends_once_it_is_settled() -> None:
    waiting = build_ticket(seq=1, call="tc_1")
    watched = WatchedAnswer(execution=RUNNING, steps=[TWO_CALLS], tickets={0: settle(0), 1: waiting})
    assert list_kinds(watched)[-3:] == [moments.CallStart, moments.CallEnd, moments.CallStart]


@pytest.mark.parametrize(
    ("step", "asks_on"),
    [
        (build_step(), False),
        (build_step(content=({"type": "text", "text": "I search."},), stop_reason="pause_turn"), True),
        (build_step(summarizes=3), True),
        (replace(TWO_CALLS, calls=0, stop_reason="max_tokens"), False),
    ],
    ids=["an answer", "a pause", "a summary", "a reply that was cut"],
)
def test_the_model_is_asked_again_after_a_turn_that_is_no_answer(step: Step, asks_on: bool) -> None:
    last = list_kinds(WatchedAnswer(execution=RUNNING, steps=[step]))[-1]
    assert last is (moments.Thinking if asks_on else moments.StepEnd)


def test_a_turn_under_way_that_is_not_the_next_one_is_not_shown() -> None:
    seen = StreamPosition(event=1, live=locate_end([LiveBlock("Hello")]))
    other = LiveTurn(event=4, blocks=(LiveBlock("Hello, you"),))
    assert list_kinds(WatchedAnswer(execution=RUNNING, live=other), seen) == []


@pytest.mark.parametrize("live", [None, locate_end([LiveBlock("Hello")])], ids=["between turns", "amid a turn"])
def test_nothing_follows_what_is_behind_all_that_was_read(live: LivePosition | None) -> None:
    seen = StreamPosition(event=4, stage=Stage.EVENT if live else Stage.STEP_CLOSED, live=live)
    later = LiveTurn(event=5, blocks=(LiveBlock("Hello, you"),))
    assert list_kinds(WatchedAnswer(execution=RUNNING, live=later), seen) == []


def test_a_failure_and_the_text_before_it_come_once() -> None:
    step = build_step(content=({"type": "text", "text": "Let me see."},), summarizes=0)
    watched = WatchedAnswer(execution=FAILED, steps=[step])
    seen = [moment for moment in follow(BEGINNING, watched) if isinstance(moment, moments.AnswerFailure)]
    assert list_kinds(watched, seen[0].after) == [moments.AnswerEnd, moments.StreamEnd]


def test_of_text_that_no_turn_holds_what_was_not_seen_follows() -> None:
    watched = WatchedAnswer(execution=FAILED)
    growth = next(moment for moment in follow(BEGINNING, watched) if isinstance(moment, moments.BlockGrowth))
    assert list_kinds(watched, growth.after)[:2] == [moments.BlockEnd, moments.StepEnd]


@pytest.mark.parametrize(("started_at", "number"), [(None, 1), (START, 2)], ids=["never started", "started"])
def test_the_end_has_the_number_after_the_last_event(started_at: object, number: int) -> None:
    stopped = replace(QUEUED, status=Status.KILLED, started_at=started_at, completed_at=START, error="cancelled")
    (end,) = (moment for moment in follow(BEGINNING, WatchedAnswer(execution=stopped)) if isinstance(moment, moments.AnswerEnd))
    assert end.after.event == number
