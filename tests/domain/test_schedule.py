"""Schedules: which are stored, and when they fire."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferryman.domain.owners.plan import GURU, PRO, Plan
from ferryman.domain.tasks.schedule import AHEAD_MAX, Schedule, ScheduleType, find_past_problems, find_schedule_problems

NOW = datetime(2026, 11, 21, 12, 0, 5, 250_000, tzinfo=UTC)
DAY = timedelta(days=1)


def cron(expression: str) -> Schedule:
    return Schedule(type=ScheduleType.CRON, cron=expression)


def once(at: datetime) -> Schedule:
    return Schedule(type=ScheduleType.ONCE, at=at)


def delayed(seconds: int) -> Schedule:
    return Schedule(type=ScheduleType.DELAYED, after_s=seconds)


def list_problems(schedule: Schedule, plan: Plan = PRO) -> list[tuple[str, str]]:
    return [(problem.field, problem.message) for problem in find_schedule_problems(schedule, plan=plan, now=NOW)]


@pytest.mark.parametrize(
    ("schedule", "first"),
    [
        (cron("0 9 * * *"), datetime(2026, 11, 22, 9, tzinfo=UTC)),
        (cron("*/15 * * * *"), datetime(2026, 11, 21, 12, 15, tzinfo=UTC)),
        (cron("0 0 29 2 *"), datetime(2028, 2, 29, tzinfo=UTC)),
        (cron("30 6 * * mon-fri"), datetime(2026, 11, 23, 6, 30, tzinfo=UTC)),
        (once(NOW + DAY), datetime(2026, 11, 22, 12, 0, 6, tzinfo=UTC)),
        (once(NOW), None),
        (once(datetime(2026, 11, 22, tzinfo=UTC)), datetime(2026, 11, 22, tzinfo=UTC)),
        (Schedule(type=ScheduleType.ONCE), None),
        (delayed(60), datetime(2026, 11, 21, 12, 1, 6, tzinfo=UTC)),
    ],
)
def test_it_first_fires_in_a_whole_second_to_come(schedule: Schedule, first: datetime | None) -> None:
    assert schedule.compute_first(NOW) == first


def test_cron_goes_on_and_the_others_do_not() -> None:
    nine = datetime(2026, 11, 22, 9, tzinfo=UTC)
    assert cron("0 9 * * *").compute_next(nine) == nine + DAY
    assert (once(NOW).compute_next(nine), delayed(60).compute_next(nine)) == (None, None)


@pytest.mark.parametrize(
    ("expression", "plan"),
    [
        ("*/5 * * * *", PRO),
        ("*/15 * * * *", GURU),
        ("0,15,30,45 9-17 * * 1-5", GURU),
        ("58 23 * * *", PRO),
        ("0,58 0,23 1,15 * *", PRO),  # 23:58 and 0:00, but never on two days running
        ("0 12 L * *", GURU),
        ("0 0 29 2 *", GURU),
    ],
)
def test_a_schedule_that_leaves_the_plan_its_minutes_is_stored(expression: str, plan: Plan) -> None:
    assert list_problems(cron(expression), plan) == []


def test_how_close_its_times_are_does_not_hang_on_the_time_of_day_it_is_set_at() -> None:
    nightly = cron("0,58 0,23 1,15 * *")
    assert find_schedule_problems(nightly, plan=PRO, now=NOW + timedelta(minutes=34)) == []


@pytest.mark.parametrize(
    ("expression", "plan"),
    [
        ("* * * * *", PRO),
        ("0,1 * * * *", PRO),
        ("*/7 * * * *", PRO),  # 56 and 0
        ("*/5 * * * *", GURU),
        ("0,58 0,23 * * *", PRO),  # 23:58 and 0:00
        ("0,58 0,23 1,29 2,3 *", PRO),  # 29 February and 1 March
        ("0,58 0,23 * * SAT,SUN", PRO),
    ],
)
def test_a_schedule_that_is_ever_closer_than_the_plan_allows_is_refused(expression: str, plan: Plan) -> None:
    least = plan.schedule_minutes
    message = f"must leave at least {least} minutes between two times on plan {plan.name}"
    assert list_problems(cron(expression), plan) == [("schedule.cron", message)]


FIELD = st.lists(st.integers(0, 59), min_size=1, max_size=4, unique=True).map(sorted)
HOURS = st.lists(st.integers(0, 23), min_size=1, max_size=3, unique=True).map(sorted)
DAYS = st.lists(st.integers(1, 28), min_size=1, max_size=4, unique=True).map(sorted)


@settings(max_examples=60, deadline=None)
@given(FIELD, HOURS, DAYS)
def test_what_is_stored_is_never_closer_in_the_coming_year(minutes: list[int], hours: list[int], days: list[int]) -> None:
    fields = (",".join(map(str, values)) for values in (minutes, hours, days))
    schedule = cron(" ".join([*fields, "*", "*"]))
    times, moment = [], NOW
    while moment < NOW + timedelta(days=365):
        following = schedule.compute_next(moment)
        assert following is not None
        moment = following
        times.append(moment)
    closest = min(later - earlier for earlier, later in pairwise(times))
    assert (list_problems(schedule) == []) is (closest >= timedelta(minutes=5))


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("", "must have five fields in ASCII"),
        ("* * * *", "must have five fields in ASCII"),
        ("0 0 9 * * *", "must have five fields in ASCII"),
        ("@daily", "must have five fields in ASCII"),
        ("٠ 9 * * *", "must have five fields in ASCII"),
        ("60 * * * *", "has a bad minute: it may be 0 to 59"),
        ("0 24 * * *", "has a bad hour: it may be 0 to 23"),
        ("0 0 32 * *", "has a bad day of month"),
        ("0 0 30 2 *", "has a bad day of month"),
        ("0 0 1 13 *", "has a bad month: it may be 1 to 12, or JAN to DEC"),
        ("0 0 1 1 8", "has a bad day of week: it may be 0 to 7, or SUN to SAT"),
        ("*/0 * * * *", "has a bad minute"),
        ("0 0 * 2 MON#5", "does not fire in the coming 3660 days"),
        ("0 " * 51, "must be at most 100 characters, is 102"),
    ],
)
def test_what_is_no_cron_expression_is_refused_with_the_reason(expression: str, message: str) -> None:
    ((field, text),) = list_problems(cron(expression))
    assert (field, message in text) == ("schedule.cron", True)


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="0123456789*/,-# LMONJA@", max_size=30))
def test_whatever_is_written_is_stored_or_refused_and_what_is_stored_fires(text: str) -> None:
    schedule = cron(text)
    if not find_schedule_problems(schedule, plan=PRO, now=NOW):
        first = schedule.compute_first(NOW)
        assert first is not None
        assert first > NOW


@pytest.mark.parametrize(
    ("schedule", "field", "message"),
    [
        (Schedule(type=ScheduleType.CRON), "schedule.cron", "is required for type cron"),
        (Schedule(type=ScheduleType.ONCE), "schedule.at", "is required for type once"),
        (Schedule(type=ScheduleType.DELAYED), "schedule.after_s", "is required for type delayed"),
        (Schedule(type=ScheduleType.DELAYED, after_s=1, cron="0 9 * * *"), "schedule.cron", "is for type cron only"),
        (delayed(0), "schedule.after_s", "must be 1 to 316224000 seconds (3660 days)"),
        (delayed(10**30), "schedule.after_s", "must be 1 to 316224000 seconds (3660 days)"),
        (once(NOW + 3_661 * DAY), "schedule.at", "must be at most 3660 days ahead"),
    ],
)
def test_a_schedule_of_another_form_is_refused_with_the_field_and_the_limit(
    schedule: Schedule, field: str, message: str
) -> None:
    assert (field, message) in list_problems(schedule)


@pytest.mark.parametrize(
    "schedule",
    [once(NOW + 3_660 * DAY), once(NOW - DAY), delayed(1), delayed(316_224_000), cron("0 9 * * *" + " " * 91)],
)
def test_a_schedule_at_its_limits_is_stored(schedule: Schedule) -> None:
    assert list_problems(schedule) == []


@pytest.mark.parametrize(
    "schedule", [once(NOW + 3_660 * DAY + timedelta(microseconds=1)), delayed(316_224_001), cron("0 9 * * *" + " " * 92)]
)
def test_a_schedule_just_beyond_them_is_not(schedule: Schedule) -> None:
    assert len(list_problems(schedule)) == 1


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("60 * * * *", "has a bad minute: it may be 0 to 59"),
        ("0 24 * * *", "has a bad hour: it may be 0 to 23"),
        ("0 0 32 * *", "has a bad day of month: it may be 1 to 31, or L, in a month that has it"),
        ("0 0 1 13 *", "has a bad month: it may be 1 to 12, or JAN to DEC"),
        ("0 0 1 1 8", "has a bad day of week: it may be 0 to 7, or SUN to SAT"),
    ],
)
def test_the_message_of_a_bad_field_says_its_values(expression: str, message: str) -> None:
    assert list_problems(cron(expression)) == [("schedule.cron", message)]


def test_a_schedule_of_two_types_is_refused_for_both() -> None:
    schedule = Schedule(type=ScheduleType.CRON, at=NOW)
    assert list_problems(schedule) == [
        ("schedule.cron", "is required for type cron"),
        ("schedule.at", "is for type once only"),
    ]


def test_a_schedule_fires_for_the_first_time_within_the_days_ahead() -> None:
    schedule, first = cron("0 0 * 2 MON#5"), datetime(2044, 2, 29, tzinfo=UTC)
    moments = (first - AHEAD_MAX, first - AHEAD_MAX - timedelta(microseconds=1))
    assert [find_schedule_problems(schedule, plan=PRO, now=now) == [] for now in moments] == [True, False]


def test_a_moment_that_is_over_cannot_be_set_any_more() -> None:
    (problem,) = find_past_problems(once(NOW), now=NOW)
    assert (problem.field, problem.message) == ("schedule.at", "must be in the future")
    assert (
        find_past_problems(once(NOW + DAY), now=NOW)
        == find_past_problems(cron("0 9 * * *"), now=NOW)
        == find_past_problems(None, now=NOW)
        == []
    )
