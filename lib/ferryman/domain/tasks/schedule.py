"""Schedules: when a task runs, in UTC, and the rules that a stored schedule meets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import pairwise, takewhile

from cronsim import CronSim, CronSimError

from ferryman.domain.owners.plan import Plan
from ferryman.domain.problem import Problem

CRON_CHARACTERS_MAX = 100
CRON_FIELDS = 5
AHEAD_MAX = timedelta(days=3_660)
SCHEDULED_PER_OWNER_MAX = 50  # requirements 0.1

_SECOND, _DAY = timedelta(seconds=1), timedelta(days=1)
_FOUR_YEARS = timedelta(days=1_462)
"""Every pair of consecutive days occurs in this time, 29 February and 1 March too."""

_RANGES = {
    "minute": "0 to 59",
    "hour": "0 to 23",
    "day-of-month": "1 to 31, or L, in a month that has it",
    "month": "1 to 12, or JAN to DEC",
    "day-of-week": "0 to 7, or SUN to SAT",
}


class ScheduleType(StrEnum):
    """How a schedule defines its times: repeatedly, at a moment, or so long after it was set."""

    CRON = "cron"
    ONCE = "once"
    DELAYED = "delayed"


FIELDS = {ScheduleType.CRON: "cron", ScheduleType.ONCE: "at", ScheduleType.DELAYED: "after_s"}
"""The field of a schedule that defines its times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """A schedule as stored; the field of its `type` is set and no other. `at` is in UTC, `after_s` in seconds."""

    type: ScheduleType
    cron: str | None = None
    at: datetime | None = None
    after_s: int | None = None

    def compute_first(self, now: datetime) -> datetime | None:
        """Return the first time of a schedule that is set `now`, in whole seconds; None where it never fires."""
        if self.type is ScheduleType.DELAYED and self.after_s is not None:
            return _round_up(now + timedelta(seconds=self.after_s))
        if self.type is ScheduleType.ONCE and self.at is not None:
            return _round_up(self.at) if self.at > now else None
        return self.compute_next(now)

    def compute_next(self, now: datetime) -> datetime | None:
        """Return the next time after `now` of a schedule that has fired; None after the last."""
        return next(_iterate_times(self.cron, now), None) if self.cron is not None else None


def find_schedule_problems(schedule: Schedule, *, plan: Plan, now: datetime) -> list[Problem]:
    """Return the problems that keep `schedule` from being stored under `plan`, except a moment in the past."""
    faults = _find_form_problems(schedule)
    if faults:
        return faults
    if schedule.cron is not None:
        return _find_cron_problems(schedule.cron, plan=plan, now=now)
    days = AHEAD_MAX.days
    if schedule.at is not None and schedule.at > now + AHEAD_MAX:
        return [Problem("schedule.at", f"must be at most {days} days ahead")]
    most = int(AHEAD_MAX.total_seconds())
    if schedule.after_s is not None and not 1 <= schedule.after_s <= most:
        return [Problem("schedule.after_s", f"must be 1 to {most} seconds ({days} days)")]
    return []


def find_past_problems(schedule: Schedule | None, *, now: datetime) -> list[Problem]:
    """Return the problem of a schedule that is set `now` for a moment in the past."""
    if schedule is None or schedule.at is None or schedule.at > now:
        return []
    return [Problem("schedule.at", "must be in the future")]


def _find_form_problems(schedule: Schedule) -> list[Problem]:
    problems = []
    for kind, name in FIELDS.items():
        is_set = getattr(schedule, name) is not None
        if is_set is not (kind is schedule.type):
            message = f"is for type {kind} only" if is_set else f"is required for type {kind}"
            problems.append(Problem(f"schedule.{name}", message))
    return problems


def _find_cron_problems(expression: str, *, plan: Plan, now: datetime) -> list[Problem]:
    def problem(message: str) -> list[Problem]:
        return [Problem("schedule.cron", message)]

    if len(expression) > CRON_CHARACTERS_MAX:
        return problem(f"must be at most {CRON_CHARACTERS_MAX} characters, is {len(expression)}")
    if not expression.isascii() or len(expression.split()) != CRON_FIELDS:
        return problem("must have five fields in ASCII: minute, hour, day of the month, month, day of the week")
    try:
        first = next(_iterate_times(expression, now), None)
    except CronSimError as error:
        field = str(error).removeprefix("Bad ")
        return problem(f"has a bad {field.replace('-', ' ')}: it may be {_RANGES.get(field, 'a value that cron accepts')}")
    if first is None or first > now + AHEAD_MAX:
        return problem(f"does not fire in the coming {AHEAD_MAX.days} days")
    if _has_closer_times(expression, timedelta(minutes=plan.schedule_minutes), now):
        return problem(f"must leave at least {plan.schedule_minutes} minutes between two times on plan {plan.name}")
    return []


def _has_closer_times(expression: str, least: timedelta, now: datetime) -> bool:
    """Tell whether two times are ever closer than `least`. The times of the day are the same on every day."""
    minute, hour, *day = expression.split()
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    times = list(takewhile(lambda at: at < midnight + _DAY, _iterate_times(f"{minute} {hour} * * *", midnight - _SECOND)))
    if any(later - earlier < least for earlier, later in pairwise(times)):
        return True
    if times[0] + _DAY - times[-1] >= least:
        return False
    days = takewhile(lambda at: at < now + _FOUR_YEARS, _iterate_times(" ".join(("0", "0", *day)), now))
    return any(later - earlier == _DAY for earlier, later in pairwise(days))


def _iterate_times(expression: str, after: datetime) -> Iterator[datetime]:
    """Yield the times after `after`, in UTC. Raise CronSimError, at the first one, for an invalid expression."""
    yield from CronSim(expression, after)


def _round_up(moment: datetime) -> datetime:
    floor = moment.replace(microsecond=0)
    return floor if floor == moment else floor + _SECOND
