"""Firing: what becomes of a scheduled task when its time has come, and when it is to be asked again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from ferryman.domain.executions.execution import Execution, Status
from ferryman.domain.tasks.task import Task, change_task

FAILURES_MAX = 3  # requirements 0.1
ENDED = (Status.COMPLETED, Status.FAILED, Status.TIMEOUT)
"""How a scheduled execution ends that counts; a killed one says nothing of the task."""

STATE = ("schedule_generation", "next_fire_at", "paused")
"""The fields of a task that say where its schedule stands."""

WINDOW = timedelta(minutes=10)
"""How often the sweep looks for timers that were lost."""

OVERDUE = timedelta(minutes=1)
EARLY = timedelta(minutes=1)
"""A timer that comes this much before its time comes again; clocks differ by less."""

FULL_PAUSE = timedelta(minutes=1)
"""After which time a timer comes again whose owner had as many executions queued as may be: at most 50 of an owner do so."""

_TIMER_MAX = timedelta(days=29)
"""Cloud Tasks takes a task at most 30 days ahead (tasks_v2, schedule_time); a day for clocks that differ."""

_HOP = timedelta(days=25)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fire:
    """One time at which a task is to run; whatever raises the task's `generation` makes it void."""

    task: str
    generation: int
    at: datetime

    @property
    def execution(self) -> str:
        """The id of the execution it makes, however often it is delivered."""
        return f"exec_{self.task.removeprefix('task_')}_{self.generation}_{int(self.at.timestamp())}"


def find_next_fire(task: Task) -> Fire | None:
    """What fires next, if anything does; of a disabled task nothing."""
    if task.next_fire_at is None or not task.enabled:
        return None
    return Fire(task=task.id, generation=task.schedule_generation, at=task.next_fire_at)


def arm(task: Task, *, now: datetime) -> Task:
    """`task` with its schedule set anew: nothing that was to fire does any more, and a pause is over."""
    at = task.schedule.first(now) if task.schedule and task.enabled else None
    return replace(task, schedule_generation=task.schedule_generation + 1, next_fire_at=at, paused=None)


def must_rearm(task: Task, change: Mapping[str, Any]) -> bool:
    """Whether `change` sets the schedule anew: it gives one, turns the task on or off, or turns it on while it is paused."""
    enabled = change.get("enabled")
    resumed = enabled is True and task.paused is not None
    return "schedule" in change or resumed or enabled not in (None, task.enabled)


def fire_task(task: Task, fire: Fire, *, recent: Sequence[Execution], now: datetime) -> tuple[Task, Execution | None]:
    """`task` once `fire` has come true, and the execution it makes: none when the latest ended ones all failed.

    `recent` are the last `FAILURES_MAX` executions of this generation that ended, the latest first. Times that were missed
    meanwhile are not made up for: this one stands for them.
    """
    if len(recent) == FAILURES_MAX and all(each.status is not Status.COMPLETED for each in recent):
        why = f"{FAILURES_MAX} scheduled executions in a row failed, the last one {recent[0].id}"
        paused = {"schedule_generation": task.schedule_generation + 1, "next_fire_at": None, "paused": why}
        return change_task(task, paused, now=now), None
    following = task.schedule.following(max(now, fire.at)) if task.schedule else None
    execution = Execution(
        id=fire.execution,
        task=task.id,
        owner=task.owner,
        created_at=now,
        scheduled_for=fire.at,
        schedule_generation=fire.generation,
    )
    return replace(task, next_fire_at=following), execution


def compute_timer_due(at: datetime, now: datetime) -> datetime:
    """When the timer of a time is to come: at that time, or at a hop towards it, the same one whoever asks."""
    hops = max(0, -((now + _TIMER_MAX - at) // _HOP))
    return at - hops * _HOP


def find_next_window(moment: datetime) -> datetime:
    """The start of the window after the one that `moment` is in."""
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    return epoch + ((moment - epoch) // WINDOW + 1) * WINDOW
