"""Rates: the plan's limits, call by call."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.calls.rate import ExecutionRateState
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.owners.plan import GURU, PRO

START = datetime(2026, 1, 1, tzinfo=UTC)


def after(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def count_calls(plan, *moments: float) -> ExecutionRateState:
    state = ExecutionRateState()
    for moment in moments:
        state = state.admit(plan, after(moment))
    return state


def test_guru_admits_ten_calls_a_minute_and_refuses_the_eleventh():
    state = count_calls(GURU, *[0] * 10)
    with pytest.raises(CallRefusedError, match=r"^Error: Rate .* \(10 API calls per minute\)\. The window opens in 1 s;"):
        state.admit(GURU, after(60))


def test_pro_admits_twenty_calls_a_minute_and_refuses_the_twenty_first():
    state = count_calls(PRO, *[0] * 20)
    with pytest.raises(CallRefusedError, match=r"^Error: Rate .* \(20 API calls per minute\)\. The window opens in 60 s;"):
        state.admit(PRO, after(1))


def test_guru_admits_twenty_calls_an_execution_and_refuses_the_twenty_first():
    state = count_calls(GURU, *[70.0 * n for n in range(20)])
    with pytest.raises(CallRefusedError, match=r"^Error: Execution limit reached \(20 API calls\)$"):
        state.admit(GURU, after(10_000))


def test_pro_admits_fifty_calls_an_execution_and_refuses_the_fifty_first():
    state = count_calls(PRO, *[70.0 * n for n in range(50)])
    with pytest.raises(CallRefusedError, match=r"^Error: Execution limit reached \(50 API calls\)$"):
        state.admit(PRO, after(10_000))


def test_the_window_resets_only_when_more_than_sixty_seconds_have_passed_since_its_first_call():
    full = count_calls(GURU, 0, *[59] * 9)
    with pytest.raises(CallRefusedError):
        full.admit(GURU, after(60))
    assert full.admit(GURU, after(60.001)).window_calls == 1


def test_the_window_is_a_reset_not_a_slide():
    state = count_calls(GURU, 0, *[59.9] * 9, *[60.1] * 10)
    assert state.calls == 20


SECONDS = st.floats(0, 60)


@given(SECONDS)
def test_the_window_opens_after_the_seconds_that_are_told_and_not_one_before(elapsed):
    full, now = count_calls(GURU, *[0] * 10), after(elapsed)
    wait = full.compute_wait(GURU, now)
    assert full.admit(GURU, now + wait).window_calls == 1
    with pytest.raises(CallRefusedError):
        full.admit(GURU, now + wait - timedelta(seconds=1))


def test_there_is_nothing_to_wait_for_while_a_call_is_admitted():
    assert count_calls(GURU, *[0] * 9).compute_wait(GURU, after(1)) == timedelta(0)
    assert count_calls(GURU, *[0] * 10).compute_wait(GURU, after(60.001)) == timedelta(0)


def test_an_execution_is_used_up_with_its_last_call():
    assert [count_calls(GURU, *[70.0 * n for n in range(calls)]).is_used_up(GURU) for calls in (19, 20)] == [False, True]


def test_a_refused_call_is_not_counted():
    state = count_calls(GURU, *[0] * 10)
    with pytest.raises(CallRefusedError):
        state.admit(GURU, after(1))
    assert (state.calls, state.window_calls) == (10, 10)


def test_the_execution_limit_is_said_before_the_minute_limit():
    both = replace(GURU, calls_per_execution=3, calls_per_minute=3)
    with pytest.raises(CallRefusedError, match="Execution limit"):
        count_calls(both, 0, 0, 0).admit(both, after(1))


@given(st.lists(st.floats(min_value=0, max_value=1_000), max_size=60))
def test_no_schedule_of_calls_exceeds_a_limit(moments):
    state, windows = ExecutionRateState(), {}
    for moment in sorted(moments):
        try:
            state = state.admit(GURU, after(moment))
        except CallRefusedError:
            continue
        windows[state.window_opened_at] = windows.get(state.window_opened_at, 0) + 1
    assert state.calls <= GURU.calls_per_execution
    assert all(calls <= GURU.calls_per_minute for calls in windows.values())


@given(st.lists(st.floats(min_value=0, max_value=500), max_size=20))
def test_the_state_can_be_rebuilt_from_the_moments_of_the_calls(moments):
    plan = replace(PRO, calls_per_minute=1_000, calls_per_execution=1_000)
    ordered = sorted(moments)
    assert ExecutionRateState.from_moments(after(seconds) for seconds in ordered) == count_calls(plan, *ordered)
