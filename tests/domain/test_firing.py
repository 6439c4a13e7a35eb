"""Firing: what a timer is for, when the next one comes, and what makes it void."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.executions.execution import Execution, Status
from ferryman.domain.tasks import firing
from ferryman.domain.tasks.firing import Fire
from ferryman.domain.tasks.schedule import Schedule, ScheduleType
from ferryman.domain.tasks.task import Task
from tests.builders import build_task

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
DAY, HOUR = timedelta(days=1), timedelta(hours=1)
CRON = Schedule(type=ScheduleType.CRON, cron="0 * * * *")
BARE = build_task(id="task_1", owner="ann", created_at=NOW)
TASK = replace(BARE, schedule=CRON, schedule_generation=3, next_fire_at=NOW)
FIRE = Fire(task="task_1", generation=3, at=NOW)


def build_ended(*statuses: Status) -> list[Execution]:
    return [
        Execution(id=f"exec_{n}", task="task_1", owner="ann", status=status, created_at=NOW)
        for n, status in enumerate(statuses)
    ]


def test_a_time_has_one_execution_by_name() -> None:
    assert FIRE.execution == f"exec_1_3_{int(NOW.timestamp())}"
    others = (replace(FIRE, generation=4), replace(FIRE, at=NOW + HOUR), replace(FIRE, task="task_2"))
    assert len({FIRE.execution, *(other.execution for other in others)}) == 4


def test_a_time_that_comes_makes_an_execution_and_moves_on() -> None:
    after, execution = firing.fire_task(TASK, FIRE, recent=[], now=NOW)
    assert after == replace(TASK, next_fire_at=NOW + HOUR)
    assert execution is not None
    assert (execution.id, execution.scheduled_for, execution.schedule_generation) == (FIRE.execution, NOW, 3)


def test_times_that_were_missed_are_run_once() -> None:
    after, execution = firing.fire_task(TASK, FIRE, recent=[], now=NOW + 7 * DAY)
    assert execution is not None
    assert after.next_fire_at == NOW + 7 * DAY + HOUR


def test_a_schedule_of_one_time_is_over_when_it_has_come() -> None:
    task = replace(TASK, schedule=Schedule(type=ScheduleType.ONCE, at=NOW))
    after, execution = firing.fire_task(task, FIRE, recent=[], now=NOW)
    assert (after.next_fire_at, execution is not None) == (None, True)


@pytest.mark.parametrize(
    ("statuses", "goes_on"),
    [
        ((Status.FAILED,) * 3, False),
        ((Status.TIMEOUT, Status.FAILED, Status.TIMEOUT), False),
        ((Status.FAILED,) * 2, True),
        ((Status.COMPLETED, Status.FAILED, Status.FAILED), True),
        ((Status.FAILED, Status.COMPLETED, Status.FAILED), True),
        ((Status.FAILED, Status.FAILED, Status.COMPLETED), True),
    ],
)
def test_three_failures_in_a_row_pause_the_task(statuses: tuple[Status, ...], goes_on: bool) -> None:
    after, execution = firing.fire_task(TASK, FIRE, recent=build_ended(*statuses), now=NOW)
    assert (execution is not None) is goes_on
    if not goes_on:
        assert after.paused == "3 scheduled executions in a row failed, the last one exec_0"
        assert (after.next_fire_at, after.schedule_generation, after.enabled) == (None, 4, True)
        assert after.updated_at > TASK.updated_at  # so that nobody changes it without having seen that


def test_setting_it_again_ends_the_pause_and_voids_what_was_to_come() -> None:
    paused = replace(TASK, next_fire_at=None, paused="why")
    after = firing.rearm(paused, now=NOW)
    assert (after.next_fire_at, after.paused, after.schedule_generation) == (NOW + HOUR, None, 4)


def test_a_task_that_is_off_or_has_no_schedule_waits_for_nothing() -> None:
    for task in (replace(TASK, enabled=False), replace(TASK, schedule=None)):
        assert firing.find_next_fire(firing.rearm(task, now=NOW)) is None


@pytest.mark.parametrize(
    ("task", "change", "again"),
    [
        (TASK, {"name": "x"}, False),
        (TASK, {"enabled": True}, False),
        (TASK, {"enabled": False}, True),
        (TASK, {"schedule": CRON}, True),
        (TASK, {"schedule": None}, True),
        (replace(TASK, paused="why"), {"enabled": True}, True),
        (replace(TASK, paused="why"), {"name": "x"}, False),
        (replace(TASK, enabled=False), {"enabled": True}, True),
    ],
)
def test_a_change_sets_the_schedule_again_or_leaves_it(task: Task, change: dict[str, object], again: bool) -> None:
    assert firing.must_rearm(task, change) is again


@given(st.integers(0, 3_660 * 86_400))
def test_a_timer_is_never_set_further_ahead_than_cloud_tasks_takes_it(ahead: int) -> None:
    at, now, hops = NOW + timedelta(seconds=ahead), NOW, 0
    while (due := firing.compute_timer_due(at, now)) != at:
        assert now + 3 * DAY < due <= now + 29 * DAY
        assert firing.compute_timer_due(at, now + HOUR) in (
            due,
            firing.compute_timer_due(at, due),
        )  # a request a little later names the same hop
        now, hops = due, hops + 1
    assert at - now <= 29 * DAY
    assert hops <= 1 + ahead // (25 * 86_400)


def test_an_execution_belongs_to_the_task_its_owner_and_its_generation() -> None:
    _, execution = firing.fire_task(TASK, replace(FIRE, at=NOW - HOUR), recent=[], now=NOW)
    assert execution == Execution(
        id=f"exec_1_3_{int((NOW - HOUR).timestamp())}",
        task="task_1",
        owner="ann",
        created_at=NOW,
        scheduled_for=NOW - HOUR,
        schedule_generation=3,
    )


def test_a_fire_that_comes_early_is_followed_by_the_time_after_its_own() -> None:
    early = NOW - timedelta(seconds=30)
    after, _ = firing.fire_task(TASK, FIRE, recent=[], now=early)
    assert after.next_fire_at == NOW + HOUR


def test_a_task_without_a_schedule_any_more_fires_and_waits_for_nothing() -> None:
    after, execution = firing.fire_task(replace(TASK, schedule=None), FIRE, recent=[], now=NOW)
    assert (after.next_fire_at, execution is not None) == (None, True)


def test_the_next_fire_is_that_of_the_task_and_its_generation() -> None:
    assert firing.find_next_fire(TASK) == FIRE
    assert firing.find_next_fire(replace(TASK, enabled=False)) is None
    assert firing.find_next_fire(replace(TASK, next_fire_at=None)) is None


@pytest.mark.parametrize(
    ("ahead", "due"),
    [(0, 0), (29, 29), (29 + 1 / 86_400, 4 + 1 / 86_400), (54, 29), (54 + 1 / 86_400, 4 + 1 / 86_400), (-3, -3)],
)
def test_a_timer_further_ahead_than_29_days_hops_by_25(ahead: float, due: float) -> None:
    assert firing.compute_timer_due(NOW + ahead * DAY, NOW) == NOW + due * DAY


def test_windows_follow_each_other_on_the_clock() -> None:
    assert firing.find_next_window(NOW) == NOW + timedelta(minutes=10)
    assert firing.find_next_window(NOW - timedelta(microseconds=1)) == NOW
    assert firing.find_next_window(NOW + timedelta(minutes=9)) == NOW + timedelta(minutes=10)
