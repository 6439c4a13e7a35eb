"""Waiting until a moment: a postponement before it, a result after it, and the same moment for every delivery."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.executions.postponement import Postponement
from ferryman.inmemory.clock import ManualClock
from ferryman.tools.waiting.wait_until import WaitCalls
from tests.builders import START, build_execution, build_ticket

HOUR = timedelta(hours=1)


async def wait(arguments: dict[str, Any], *, at: datetime = START) -> Any:
    """Return what becomes of a call made at `START`, whose execution began then and has an hour, in a delivery `at` a time."""
    waits = WaitCalls(clock=ManualClock(at), execution_timeout=HOUR)
    ticket = build_ticket(tool="wait_until", display_arguments=arguments, created_at=START)
    return await waits.execute(ticket, execution=build_execution(started_at=START))


async def say(arguments: dict[str, Any], **where: Any) -> str:
    return str((await wait(arguments, **where)).result.content)


async def test_before_the_moment_the_rest_is_postponed_until_it() -> None:
    outcome = await wait({"time": "2026-11-21T12:30:00Z"}, at=START + timedelta(minutes=10))
    assert outcome == Postponement(reason="it waits until 2026-11-21T12:30:00Z", after=timedelta(minutes=20))


@pytest.mark.parametrize("late", [0, 1, 600])
async def test_from_the_moment_on_the_model_is_told_that_it_has_come(late: int) -> None:
    at = START + timedelta(minutes=30, seconds=late)
    assert await say({"time": "2026-11-21T13:30:00+01:00"}, at=at) == "2026-11-21T12:30:00Z has come."


async def test_an_offset_is_understood() -> None:
    outcome = await wait({"time": "2026-11-21T14:30:00+02:00"})
    assert outcome.after == timedelta(minutes=30)


async def test_seconds_count_from_when_the_model_asked() -> None:
    outcome = await wait({"seconds": 90}, at=START + timedelta(seconds=60))
    assert outcome.after == timedelta(seconds=30)


async def test_a_moment_that_has_passed_is_answered_at_once() -> None:
    assert await say({"time": "1999-01-01T00:00:00Z"}) == "1999-01-01T00:00:00Z has come."


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "Error: exactly one of time and seconds is needed"),
        ({"time": "2026-11-21T12:30:00Z", "seconds": 1}, "Error: exactly one of time and seconds is needed"),
        ({"seconds": 1, "x": 1}, "Error: exactly one of time and seconds is needed"),
        ({"time": "soon"}, "Error: time: a date and time of ISO 8601 is needed, such as 2026-12-24T18:00:00+01:00"),
        ({"time": 5}, "Error: time: a date and time of ISO 8601 is needed, such as 2026-12-24T18:00:00+01:00"),
        ({"time": "2026-11-21T12:30:00"}, "Error: time: an offset is needed, such as Z or +01:00"),
        ({"time": "0001-01-01T00:00:00+01:00"}, "Error: time: that is before or after all time"),
        ({"seconds": -1}, "Error: seconds: a number that is not negative is needed"),
        ({"seconds": True}, "Error: seconds: a number that is not negative is needed"),
        ({"seconds": "5"}, "Error: seconds: a number that is not negative is needed"),
        ({"seconds": float("nan")}, "Error: seconds: a number that is not negative is needed"),
        ({"seconds": 1e300}, "Error: seconds: that is longer than any execution"),
        ({"seconds": 3600}, "Error: this execution ends at 2026-11-21T13:00:00Z: it cannot wait until 2026-11-21T13:00:00Z"),
    ],
)
async def test_what_cannot_be_waited_for_is_explained(arguments: dict[str, Any], message: str) -> None:
    assert await say(arguments) == message


@given(st.one_of(st.text(max_size=40), st.integers(), st.floats(), st.none(), st.lists(st.integers())))
async def test_any_argument_is_answered_or_waited_for_within_the_execution(value: Any) -> None:
    for name in ("time", "seconds"):
        outcome = await wait({name: value})
        assert outcome.after < HOUR if isinstance(outcome, Postponement) else outcome.result.content
