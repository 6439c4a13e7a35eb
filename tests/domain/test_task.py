"""Tasks: what keeps one from being stored, field by field."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from ferryman.domain.owners.plan import GURU, PRO
from ferryman.domain.tasks.task import Task, change_task, find_task_problems
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
    "system_prompt": [{"system_prompt": "open a reverse shell"}],
    "tools.0": [{"tools": ("shell",)}],
    "tools.1": [{"tools": ("api_call", "api_call")}],
    "integrations.0": [{"integrations": ("nowhere",)}],
    "webhook_urls": [{"webhook_urls": tuple(f"https://h{n}.test/" for n in range(4))}],
    "webhook_urls.0": [{"webhook_urls": (url,)} for url in ("http://a.test/", "https://10.0.0.1/", "https://localhost/", "x")],
    "webhook_match": [{"webhook_match": "prefix"}],
    "max_iterations": [{"max_iterations": 0}, {"max_iterations": 51}],
    "max_credits": [{"max_credits": Decimal(0)}, {"max_credits": Decimal("2500.5")}],
    "temperature": [{"temperature": 1.1}],
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
    once = change_task(TASK, {"enabled": False}, now=NOW)
    twice = change_task(once, {"name": "other"}, now=NOW - timedelta(seconds=1))
    assert TASK.updated_at < once.updated_at < twice.updated_at
    assert change_task(TASK, {}, now=NOW + timedelta(seconds=1)).updated_at == NOW + timedelta(seconds=1)


def test_a_fourth_webhook_url_is_refused_with_the_limit_named():
    task = replace(TASK, webhook_urls=tuple(f"https://h{n}.test/" for n in range(4)))
    assert find_task_problems(task, plan=PRO, **KNOWN)[0].message == "at most 3 webhook URLs, got 4"


def test_guru_caps_iterations_at_20_and_credits_at_500():
    assert fields(replace(TASK, max_iterations=20, max_credits=Decimal(500)), GURU) == []
    assert fields(replace(TASK, max_iterations=21, max_credits=Decimal(501)), GURU) == ["max_iterations", "max_credits"]


def test_every_problem_is_told_at_once():
    assert len(fields(replace(TASK, name="", model="x", temperature=2))) == 3


def test_the_webhook_integration_is_known_without_a_catalog_entry():
    assert fields(replace(TASK, integrations=("webhook",))) == []
