"""How many days a workspace may keep its executions."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from ferryman.domain.executions.retention import limit_retention
from ferryman.domain.workspaces.rules import find_retention_problems

DAY = timedelta(days=1)


def find(days: Any, *, deployment_days: int = 90) -> list[str]:
    return [f"{problem.field}: {problem.message}" for problem in find_retention_problems(days, deployment_days=deployment_days)]


@pytest.mark.parametrize("days", [None, 1, 90])
def test_days_up_to_the_deployments_are_accepted(days: int | None) -> None:
    assert find(days) == []


@pytest.mark.parametrize("days", [0, -1, 91])
def test_anything_else_is_told_with_its_limit(days: Any) -> None:
    (problem,) = find(days)
    assert problem == (
        "retention_days: must be 1 to 90 days, as this deployment keeps nothing longer; "
        "null for as long as the deployment keeps any"
    )


@pytest.mark.parametrize(("days", "problems"), [(99_999, 0), (100_000, 1)])
def test_a_deployment_that_keeps_all_for_ever_allows_what_its_own_setting_would(days: int, problems: int) -> None:
    assert len(find(days, deployment_days=0)) == problems


@pytest.mark.parametrize(
    ("period", "days", "shorter"),
    [(None, None, None), (30 * DAY, None, 30 * DAY), (None, 7, 7 * DAY), (30 * DAY, 7, 7 * DAY), (30 * DAY, 60, 30 * DAY)],
)
def test_the_shorter_one_of_workspace_and_deployment_holds(
    period: timedelta | None, days: int | None, shorter: timedelta | None
) -> None:
    assert limit_retention(period, days) == shorter
