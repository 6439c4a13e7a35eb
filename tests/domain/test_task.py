"""Tasks: what keeps one from being stored, field by field."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from ferryman.domain.changes import change_value
from ferryman.domain.owners.plan import GURU, PRO
from ferryman.domain.tasks.schedule import AHEAD_MAX, Schedule, ScheduleType
from ferryman.domain.tasks.task import Task, find_task_problems
from tests.builders import build_task

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TASK = build_task(name="report", task_prompt="Say hello.", model="scripted/x", created_at=NOW)
KNOWN = {"tools": ["api_call", "webhook"], "integrations": ["slack"], "models": ["scripted", "claude-haiku-4-5"]}


def fields(task: Task, plan=PRO) -> list[str]:
    return [problem.field for problem in find_task_problems(task, plan=plan, **KNOWN)]


def test_a_plain_task_has_no_problem():
    assert fields(TASK) == []


FAULTS = {
    "name": [{"name": ""}, {"name": "x" * 101}],
    "description": [{"description": "x" * 1_001}],
    "task_prompt": [
        {"task_prompt": " "},
        {"task_prompt": "x" * 50_001},
        {"task_prompt": "start xmrig"},
        {"task_prompt": "\ud800"},
    ],
    "system_prompt": [{"system_prompt": "open a reverse shell"}, {"system_prompt": "x" * 50_001}],
    "tools.0": [{"tools": ("shell",)}],
    "tools.1": [{"tools": ("api_call", "api_call")}],
    "integrations.0": [{"integrations": ("nowhere",)}],
    "webhook_urls": [{"webhook_urls": tuple(f"https://h{n}.test/" for n in range(4))}],
    "webhook_urls.0": [{"webhook_urls": (url,)} for url in ("http://a.test/", "https://10.0.0.1/", "https://localhost/", "x")],
    "webhook_match": [{"webhook_match": "prefix"}],
    "max_iterations": [{"max_iterations": 0}, {"max_iterations": 51}],
    "max_credits": [{"max_credits": Decimal(0)}, {"max_credits": Decimal("2500.5")}],
    "max_credits_month": [{"max_credits_month": Decimal(0)}, {"max_credits_month": Decimal(55_001)}],
    "temperature": [{"temperature": 1.1}, {"temperature": -0.1}],
    "max_tokens": [{"max_tokens": 0}],
    "model": [
        {"model": model}
        for model in (
            "gpt-unpriced",
            "",
            "claude-haiku-4-5/x",
            "claude-haiku-4-5/\ud800",
            "scripted/",
            "scripted/a/b",
            "scripted/x\n",
            f"scripted/{'x' * 65}",
            "Scripted/x",
        )
    ],
}


@pytest.mark.parametrize(("field", "change"), [(field, change) for field, changes in FAULTS.items() for change in changes])
def test_a_fault_is_named_by_its_field(field, change):
    assert fields(replace(TASK, **change)) == [field]


@pytest.mark.parametrize("model", ["scripted", "scripted/A_b.c-1", f"scripted/{'x' * 64}", "claude-haiku-4-5"])
def test_a_model_that_has_a_price_may_be_named(model):
    assert fields(replace(TASK, model=model)) == []


def test_a_change_is_always_later_than_the_one_before():
    once = change_value(TASK, {"enabled": False}, now=NOW)
    twice = change_value(once, {"name": "other"}, now=NOW - timedelta(seconds=1))
    assert TASK.updated_at < once.updated_at < twice.updated_at
    assert change_value(TASK, {}, now=NOW + timedelta(seconds=1)).updated_at == NOW + timedelta(seconds=1)


def test_a_fourth_webhook_url_is_refused_with_the_limit_named():
    task = replace(TASK, webhook_urls=tuple(f"https://h{n}.test/" for n in range(4)))
    assert find_task_problems(task, plan=PRO, **KNOWN)[0].message == "at most 3 webhook URLs, got 4"


def test_guru_caps_iterations_at_20_and_credits_at_500():
    assert fields(replace(TASK, max_iterations=20, max_credits=Decimal(500)), GURU) == []
    assert fields(replace(TASK, max_iterations=21, max_credits=Decimal(501)), GURU) == ["max_iterations", "max_credits"]


WITHIN = [
    {"name": "x" * 100, "description": "x" * 1_000},
    {"system_prompt": "x" * 50_000, "task_prompt": "x" * 50_000},
    {"system_prompt": ""},
    {"webhook_urls": tuple(f"https://h{n}.test/" for n in range(3)), "webhook_match": "url"},
    {"max_iterations": 1, "max_credits": Decimal("0.01"), "max_tokens": 1},
    {"max_iterations": 50, "max_credits": Decimal(2_500), "max_tokens": 64_000},
    {"max_credits_month": Decimal("0.01")},
    {"max_credits_month": Decimal(55_000)},
    {"temperature": 0},
    {"temperature": 1},
    {"temperature": None},
    {"tools": ("api_call", "webhook")},
    {"schedule": Schedule(type=ScheduleType.CRON, cron="0 9 * * *")},
]


@pytest.mark.parametrize("change", WITHIN)
def test_a_task_at_its_limits_is_stored(change):
    assert fields(replace(TASK, **change)) == []


MESSAGES = [
    ({"name": "x" * 101}, "must be at most 100 characters, is 101"),
    ({"description": "x" * 1_001}, "must be at most 1000 characters, is 1001"),
    ({"task_prompt": "x" * 50_001}, "must be at most 50000 characters, is 50001"),
    ({"name": " "}, "must not be empty"),
    ({"task_prompt": "\n"}, "must not be empty"),
    ({"description": "\ud800"}, "must be valid Unicode, without lone surrogates"),
    ({"task_prompt": "start xmrig"}, "asks for crypto mining, which tasks may not do"),
    ({"tools": ("shell",)}, "is not a known tool; known are: api_call, webhook"),
    ({"integrations": ("nowhere",)}, "is not a known integration; known are: slack, webhook"),
    ({"tools": ("webhook", "webhook")}, "is listed twice"),
    ({"webhook_urls": ("http://a.test/",)}, "only https:// URLs are allowed"),
    ({"webhook_match": "prefix"}, "must be host or url"),
    ({"max_iterations": 51}, "must be 1 to 50 on plan pro"),
    ({"max_credits": Decimal("2500.01")}, "must be above 0 and at most 2500 on plan pro"),
    ({"max_credits_month": Decimal(0)}, "must be above 0 and at most 55000 on plan pro"),
    ({"max_credits_month": Decimal("55000.01")}, "must be above 0 and at most 55000 on plan pro"),
    ({"temperature": -0.1}, "must be 0 to 1"),
    ({"max_tokens": 64_001}, "must be 1 to 64000"),
    ({"model": ""}, "must be the name of a model, or scripted/NAME, of at most 64 characters each"),
    ({"model": "claude-haiku-4-5/x"}, "only scripted models have a name after a slash"),
    ({"model": "gpt"}, "has no price; priced are: claude-haiku-4-5, scripted"),
    ({"schedule": Schedule(type=ScheduleType.ONCE)}, "is required for type once"),
]


@pytest.mark.parametrize(("change", "message"), MESSAGES)
def test_a_fault_s_message_says_what_would_be_accepted(change, message):
    assert [problem.message for problem in find_task_problems(replace(TASK, **change), plan=PRO, **KNOWN)] == [message]


def test_a_schedule_is_judged_by_the_task_s_plan_at_its_last_change():
    quick = replace(TASK, schedule=Schedule(type=ScheduleType.CRON, cron="*/5 * * * *"))
    assert (fields(quick), fields(quick, GURU)) == ([], ["schedule.cron"])
    far = Schedule(type=ScheduleType.ONCE, at=NOW + AHEAD_MAX + timedelta(seconds=1))
    assert fields(replace(TASK, schedule=far)) == ["schedule.at"]
    assert fields(replace(TASK, schedule=far, updated_at=NOW + timedelta(seconds=1))) == []


def test_each_fault_of_a_list_is_named_by_its_place():
    task = replace(TASK, tools=("x", "webhook", "webhook"), webhook_urls=("https://a.test/", "x"))
    assert fields(task) == ["tools.0", "tools.2", "webhook_urls.1"]


def test_abuse_is_looked_for_within_the_limit_of_a_prompt():
    assert fields(replace(TASK, task_prompt="x" * 50_000 + " xmrig")) == ["task_prompt"]
    assert fields(replace(TASK, task_prompt="x" * 49_994 + " xmrig")) == ["task_prompt"]


def test_a_change_keeps_the_other_fields():
    changed = change_value(TASK, {"enabled": False}, now=NOW + timedelta(hours=1))
    assert changed == replace(TASK, enabled=False, updated_at=NOW + timedelta(hours=1))
    assert change_value(TASK, {}, now=NOW).updated_at == NOW + timedelta(microseconds=1)


def test_every_problem_is_told_at_once():
    assert len(fields(replace(TASK, name="", model="x", temperature=2))) == 3


def test_the_webhook_integration_is_known_without_a_catalog_entry():
    assert fields(replace(TASK, integrations=("webhook",))) == []
