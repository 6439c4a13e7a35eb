"""Retention of a workspace: how many days its executions are kept after their end, with all that is below them.

Decided: the number is frozen with each execution when it is created, so that a change holds for those that start after it. One
that is cancelled before its setup, or refused, is kept no longer than others. A workspace never keeps more than the deployment.
"""

from __future__ import annotations

from datetime import timedelta

from ferryman.domain.copies import replace
from ferryman.domain.executions.execution import Execution


def freeze_retention(execution: Execution, days: int | None) -> Execution:
    """Return `execution` with the retention of its workspace, for the write that creates it."""
    return execution if days is None else replace(execution, retention_days=days)


def limit_retention(period: timedelta | None, days: int | None) -> timedelta | None:
    """Return the shorter of the deployment's `period` and the workspace's `days`; None: for ever."""
    if days is None:
        return period
    limit = timedelta(days=days)
    return limit if period is None else min(period, limit)
