"""Retention of a workspace: how many days its executions are kept after their end, with all that is below them.

Decided: the number is frozen with each execution when it is created, so that a change holds for those that start after it. One
that is cancelled before its setup, or refused, is kept no longer than others. A workspace never keeps more than the deployment.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from ferryman.domain.copies import replace
from ferryman.domain.executions.execution import Execution
from ferryman.domain.problem import Problem

RETENTION_DAYS_MAX = 99_999
"""Of a workspace where the deployment keeps everything for ever; as many as the deployment's own setting may say."""


def find_retention_problems(days: Any, *, deployment_days: int, name: str = "retention_days") -> Iterator[Problem]:
    """Return the problems of a workspace's retention: None, or whole days from 1 to the deployment's (0: for ever)."""
    most = deployment_days or RETENTION_DAYS_MAX
    if days is None:
        return
    if isinstance(days, bool) or not isinstance(days, int) or not 1 <= days <= most:
        why = f", as this deployment keeps nothing longer than {most}" if deployment_days else ""
        yield Problem(name, f"must be a whole number of days from 1 to {most}{why}; or null, which means as the deployment")


def freeze_retention(execution: Execution, days: int | None) -> Execution:
    """Return `execution` with the retention of its workspace, for the write that creates it."""
    return execution if days is None else replace(execution, retention_days=days)


def limit_retention(period: timedelta | None, days: int | None) -> timedelta | None:
    """Return the shorter of the deployment's `period` and the workspace's `days`; None: for ever."""
    if days is None:
        return period
    limit = timedelta(days=days)
    return limit if period is None else min(period, limit)
