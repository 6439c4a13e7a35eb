"""Firing: the execution that a scheduled task starts at its time, and when its timer is due."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from ferryman.domain.changes import change_value
from ferryman.domain.executions.execution import Execution, Status
from ferryman.domain.tasks.task import Task

FAILURES_MAX = 3  # requirements 0.1
ENDED = (Status.COMPLETED, Status.FAILED, Status.TIMEOUT)
"""The final states that count for a pause; a killed execution does not."""

SCHEDULE_FIELDS = ("schedule_generation", "next_fire_at", "paused")
"""The fields of a task that hold the state of its schedule."""

WINDOW = timedelta(minutes=10)  # how often the sweep searches for lost timers
OVERDUE = timedelta(minutes=1)
EARLY = timedelta(minutes=1)
"""A timer that is early by more than this is set again; clocks differ by less."""

FULL_PAUSE = timedelta(minutes=1)
"""After which time a timer is retried whose owner had the most executions queued: at most 50 of an owner are."""

_TIMER_MAX = timedelta(days=29)
"""Cloud Tasks accepts a task at most 30 days ahead (tasks_v2, schedule_time); one day less, since clocks differ."""

_HOP = timedelta(days=25)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fire:
    """One time at which a task is to run; it is void once the task's `generation` is higher."""

    task: str
    generation: int
    at: datetime

    @property
    def execution(self) -> str:
        """The id of its execution, the same for every delivery (idempotency)."""
        return f"exec_{self.task.removeprefix('task_')}_{self.generation}_{int(self.at.timestamp())}"


def find_next_fire(task: Task) -> Fire | None:
    """Return the next time at which an enabled task fires, or None."""
    if task.next_fire_at is None or not task.enabled:
        return None
    return Fire(task=task.id, generation=task.schedule_generation, at=task.next_fire_at)


def rearm(task: Task, *, now: datetime) -> Task:
    """Return `task` with its schedule set again: earlier fires are void, and a pause ends."""
    at = task.schedule.compute_first(now) if task.schedule and task.enabled else None
    return replace(task, schedule_generation=task.schedule_generation + 1, next_fire_at=at, paused=None)


def must_rearm(task: Task, change: Mapping[str, Any]) -> bool:
    """Tell whether `change` sets the schedule again: it has one, enables or disables the task, or resumes a paused one."""
    enabled = change.get("enabled")
    resumed = enabled is True and task.paused is not None
    return "schedule" in change or resumed or enabled not in (None, task.enabled)


def fire_task(task: Task, fire: Fire, *, recent: Sequence[Execution], now: datetime) -> tuple[Task, Execution | None]:
    """Return `task` after `fire`, and the execution that starts; None where the latest executions all failed.

    `recent` are the last `FAILURES_MAX` executions of this generation that ended, the latest first. This execution replaces
    all times that were missed before.
    """
    if len(recent) == FAILURES_MAX and all(execution.status is not Status.COMPLETED for execution in recent):
        why = f"{FAILURES_MAX} scheduled executions in a row failed, the last one {recent[0].id}"
        paused = {"schedule_generation": task.schedule_generation + 1, "next_fire_at": None, "paused": why}
        return change_value(task, paused, now=now), None
    following = task.schedule.compute_next(max(now, fire.at)) if task.schedule else None
    execution = Execution(
        id=fire.execution,
        task=task.id,
        owner=task.owner,
        workspace=task.workspace,
        agent=task.agent,
        created_at=now,
        scheduled_for=fire.at,
        schedule_generation=fire.generation,
    )
    return replace(task, next_fire_at=following), execution


def compute_timer_due(at: datetime, now: datetime) -> datetime:
    """Return when the timer of `at` is due: at that time, or at a fixed hop before it, which is the same for every caller."""
    hops = max(0, -((now + _TIMER_MAX - at) // _HOP))
    return at - hops * _HOP


def find_next_window(moment: datetime) -> datetime:
    """Return the start of the window after the one that `moment` is in."""
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    return epoch + ((moment - epoch) // WINDOW + 1) * WINDOW
