"""Occupancy: which executions of an owner wait, which may run, and how long a delivery that found no slot pauses."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.executions.execution import Execution, Status
from ferryman.domain.executions.occupancy import (
    ANSWER_PAUSE_MAX,
    DELIVERY_TIME,
    PAUSE,
    QUEUED_PAUSE,
    QUEUED_PAUSE_MIN,
    START_SPACING,
    STARTED_PAUSE_MAX,
    NoFreeSlotError,
    Occupancy,
    TooManyQueuedError,
    compute_answer_pause,
    compute_pause,
)
from tests.builders import START, build_execution, build_lease

MINUTE = timedelta(minutes=1)
END = START + 2 * MINUTE
EXECUTION = build_execution()
STARTED = build_execution(started_at=START)
FULL = Occupancy(queued={"q": START - MINUTE}, running={"a": END, "b": END})


def run(name: str, **lease: object) -> Execution:
    """Return a running execution with a lease."""
    return build_execution(id=name, status=Status.RUNNING, started_at=START, lease=build_lease(**lease))


def test_an_execution_is_queued_since_it_was_created() -> None:
    occupancy = Occupancy(running={"a": END}).enqueue(EXECUTION, most=1)
    assert occupancy == Occupancy(queued={"e": START}, running={"a": END})


def test_one_queued_execution_too_many_is_refused_with_the_number() -> None:
    with pytest.raises(TooManyQueuedError, match=r"^1 executions are queued, which is the most your plan allows"):
        FULL.enqueue(EXECUTION, most=1)
    assert len(FULL.enqueue(EXECUTION, most=2).queued) == 2


def test_an_execution_that_is_queued_already_is_queued_once_whatever_the_number() -> None:
    occupancy = Occupancy().enqueue(EXECUTION, most=1)
    assert occupancy.enqueue(EXECUTION, most=1) == occupancy


def test_an_execution_that_finds_no_slot_is_told_with_the_number_that_wait() -> None:
    error = NoFreeSlotError(EXECUTION, queued=7)
    assert (error.execution, error.queued) == (EXECUTION, 7)
    assert str(error) == "the owner's running executions are as many as the plan allows"


def test_a_running_execution_is_doubtful_once_its_lease_has_ended_here() -> None:
    occupancy = Occupancy(running={"a": END, "b": END + MINUTE, "e": START})
    assert occupancy.find_doubtful(besides="e", now=END - timedelta(microseconds=1)) == ()
    assert occupancy.find_doubtful(besides="e", now=END) == ("a",)


def test_a_doubtful_execution_is_suspended_unless_its_document_has_a_lease() -> None:
    renewed = run("a", expires_at=END + MINUTE)
    documents = [
        renewed,
        run("b", expires_at=END),
        replace(run("c", expires_at=END + MINUTE), status=Status.COMPLETED),
        replace(run("d"), lease=None),
    ]
    occupancy = Occupancy(queued={"q": START}, running=dict.fromkeys("abcdf", END))
    confirmed = occupancy.confirm("abcd", documents, now=END)
    suspended = dict.fromkeys("bcd", END)
    assert confirmed == Occupancy(queued={"q": START}, running={"a": END + MINUTE, "f": END}, suspended=suspended)


def test_an_execution_that_gives_its_lease_up_is_suspended_until_it_runs_again() -> None:
    suspended = FULL.suspend("a", START)
    assert suspended == Occupancy(queued=FULL.queued, running={"b": END}, suspended={"a": START})
    assert suspended.run(run("a", expires_at=END)) == FULL


@pytest.mark.parametrize("status", [Status.QUEUED, Status.RUNNING])
def test_an_execution_is_admitted_from_its_start_to_its_end_and_by_no_state_of_its_document(status: Status) -> None:
    execution = build_execution(status=status)
    known = [Occupancy(queued={"e": START}), Occupancy(running={"e": START}), Occupancy(suspended={"e": START})]
    assert [occupancy.admits(execution) for occupancy in (*known, FULL, known[2].leave("e"))] == [True] * 3 + [False] * 2


def test_an_execution_that_has_ended_needs_no_admission() -> None:
    assert Occupancy().admits(build_execution(status=Status.FAILED))


def test_an_execution_has_a_slot_where_fewer_others_run_than_may() -> None:
    assert [FULL.has_slot(EXECUTION, most=most) for most in (1, 2, 3)] == [False, False, True]


def test_it_needs_no_second_slot_where_it_runs_already() -> None:
    assert FULL.has_slot(build_execution(id="a"), most=2)


def test_a_cancelled_execution_has_a_slot_since_it_only_ends() -> None:
    assert FULL.has_slot(build_execution(cancel_requested=True), most=2)


def test_executions_that_start_together_begin_one_after_the_other() -> None:
    occupancy = Occupancy(queued={"q": START, "r": START, "e": START}, running={"a": END})
    assert occupancy.pause_start(EXECUTION, most=4, now=START) == 2 * START_SPACING


def test_the_first_delivery_of_one_that_finds_no_slot_pauses_as_the_later_ones_do() -> None:
    occupancy = Occupancy(queued={"q": START, "r": START, "e": START}, running={"a": END})
    assert occupancy.pause_start(EXECUTION, most=3, now=START) == compute_pause(EXECUTION, queued=3, waits=0)


def test_an_execution_whose_lease_has_ended_takes_no_slot_from_those_that_start() -> None:
    occupancy = Occupancy(queued={"q": START, "e": START}, running={"a": END})
    assert occupancy.pause_start(EXECUTION, most=2, now=END) == START_SPACING


WAITING = Occupancy(queued={"b": START + MINUTE, "c": START + MINUTE, "a": START, "d": END})


def test_free_slots_are_for_those_that_are_queued_longest() -> None:
    assert WAITING.find_next(most=2, now=END) == ("a", "b")
    assert WAITING.find_next(most=9, now=END) == ("a", "b", "c")


def test_one_that_was_queued_just_now_has_a_delivery_of_its_own() -> None:
    moments = (END + DELIVERY_TIME - timedelta(microseconds=1), END + DELIVERY_TIME)
    assert ["d" in WAITING.find_next(most=9, now=now) for now in moments] == [False, True]


def test_slots_that_leased_executions_have_are_not_free() -> None:
    occupied = replace(WAITING, running={"x": END, "y": END + MINUTE})
    assert occupied.find_next(most=3, now=END) == ("a", "b")
    assert occupied.find_next(most=1, now=START + MINUTE + DELIVERY_TIME) == ()


def test_an_execution_that_has_its_lease_runs_until_the_lease_ends() -> None:
    occupancy = FULL.enqueue(EXECUTION, most=9).run(run("e"))
    assert occupancy == replace(FULL, running={**FULL.running, "e": END})


@pytest.mark.parametrize("name", ["q", "a"])
def test_an_execution_that_leaves_neither_waits_nor_runs(name: str) -> None:
    after = FULL.leave(name)
    assert {*after.queued, *after.running} == {"q", "a", "b"} - {name}
    assert (after.queued.items() <= FULL.queued.items(), after.running.items() <= FULL.running.items()) == (True, True)


@given(st.integers(0, 10_000), st.integers(0, 200), st.text(max_size=40), st.booleans())
def test_a_pause_is_bounded(waits: int, queued: int, name: str, started: bool) -> None:
    execution = replace(EXECUTION, id=name, started_at=START if started else None)
    most = STARTED_PAUSE_MAX if started else max(QUEUED_PAUSE_MIN, queued * QUEUED_PAUSE)
    assert PAUSE / 2 <= compute_pause(execution, queued=queued, waits=waits) <= most * 1.5


def average(execution: Execution, *, queued: int = 0, waits: int = 0) -> float:
    """Return the average pause of many executions like this one, in seconds."""
    pauses = (compute_pause(replace(execution, id=f"exec_{n}"), queued=queued, waits=waits) for n in range(2_000))
    return sum(pause.total_seconds() for pause in pauses) / 2_000


@pytest.mark.parametrize(("waits", "seconds"), [(0, 2), (1, 2.6), (2, 3.38), (9, 20), (20, 20), (10_000, 20)])
def test_a_started_execution_asks_less_and_less_often_up_to_a_bound(waits: int, seconds: float) -> None:
    assert average(STARTED, queued=200, waits=waits) == pytest.approx(seconds, rel=0.02)


@pytest.mark.parametrize(("queued", "seconds"), [(0, 10), (10, 10), (11, 11), (200, 200)])
def test_a_queued_execution_asks_less_often_the_more_wait(queued: int, seconds: float) -> None:
    assert average(EXECUTION, queued=queued, waits=9) == pytest.approx(seconds, rel=0.02)


@pytest.mark.parametrize("queued", [10, 50, 200])
def test_however_many_wait_one_a_second_asks(queued: int) -> None:
    pauses = [
        compute_pause(replace(EXECUTION, id=f"exec_{number}"), queued=queued, waits=9).total_seconds()
        for number in range(queued)
    ]
    assert 0.75 <= sum(1 / pause for pause in pauses) <= 1.5


def test_pauses_of_many_are_spread() -> None:
    pauses = [
        compute_pause(replace(EXECUTION, id=f"exec_{number}"), queued=200, waits=0).total_seconds() for number in range(200)
    ]
    assert max(sum(int(pause) == second for pause in pauses) for second in range(100, 300)) <= 8


def test_the_pauses_of_one_execution_are_spread_too() -> None:
    pauses = {compute_pause(EXECUTION, queued=200, waits=waits) for waits in range(20)}
    assert (len(pauses), max(pauses) - min(pauses) > 100 * QUEUED_PAUSE) == (20, True)


def test_one_that_has_started_asks_more_often_than_those_that_have_not() -> None:
    assert all(
        compute_pause(STARTED, queued=200, waits=waits) < compute_pause(EXECUTION, queued=200, waits=waits)
        for waits in range(30)
    )


def test_an_answer_whose_turn_does_not_come_asks_less_and_less_often() -> None:
    first, last = (compute_answer_pause(EXECUTION, waits=waits) for waits in (0, 99))
    assert QUEUED_PAUSE_MIN / 2 <= first <= QUEUED_PAUSE_MIN * 1.5
    assert ANSWER_PAUSE_MAX / 2 <= last <= ANSWER_PAUSE_MAX * 1.5
