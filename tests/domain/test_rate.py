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
    with pytest.raises(CallRefusedError, match=r"^Error: Rate limit reached \(10 API calls per minute\)$"):
        state.admit(GURU, after(60))


def test_pro_admits_twenty_calls_a_minute_and_refuses_the_twenty_first():
    state = count_calls(PRO, *[0] * 20)
    with pytest.raises(CallRefusedError, match=r"^Error: Rate limit reached \(20 API calls per minute\)$"):
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
