"""Retention: when a document of an execution expires, in the field by which the database deletes documents itself (TTL)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from ferryman.domain.approvals.approval import LIFETIME
from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.retention import limit_retention
from ferryman.domain.executions.waiting import measure_waited
from ferryman.gcp.store import Snapshot
from ferryman.settings import Settings

EXPIRE_AT = "expire_at"
"""The field of the TTL policies in infra/firestore.indexes.json; a document without it stays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """`period` is how long an execution is kept after its end, None for ever; `execution_timeout` the longest one may take.

    A workspace may keep its executions for less: the days that are frozen with an execution, or the deployment's `period` where
    that is shorter. The execution's own document gets its expiry at its end, and so never disappears before. The documents
    below it get theirs when they are written, since there may be hundreds to write once more at the end.
    """

    period: timedelta | None = None
    execution_timeout: timedelta = timedelta(0)

    @classmethod
    def from_settings(cls, settings: Settings) -> Retention:
        """Return the retention that the settings ask for."""
        period = timedelta(days=settings.retention_days) if settings.retention_days else None
        return cls(period=period, execution_timeout=timedelta(seconds=settings.execution_s))

    def expire_below(self, execution: Execution, now: datetime) -> dict[str, Any]:
        """Return the field of a document below `execution` that is written `now`, counted from the latest possible end.

        After that end an execution takes no further turn, so that no document disappears before one that refers to it. While it
        waits for a person, its time limit does not run: `expire_waiting` has all documents below it outlast that.
        """
        ends = (execution.started_at or now) + measure_waited(execution, now) + self.execution_timeout
        return self.expire(execution.retention_days, max(now, ends))

    def expire_waiting(self, execution: Execution, now: datetime) -> dict[str, Any]:
        """Return the field of every document below an execution that begins to wait for a person: after the longest wait."""
        return self.expire(execution.retention_days, now + LIFETIME + self.execution_timeout)

    def expire(self, days: int | None, end: datetime) -> dict[str, Any]:
        """Return the field of an execution that ends then and is kept `days` by its workspace; none where it stays for ever."""
        period = limit_retention(self.period, days)
        return {} if period is None else {EXPIRE_AT: end + period}


def read_workspace_days(snapshot: Snapshot) -> int | None:
    """Return how many days a workspace keeps its executions, from its document; None: as the deployment, or no document."""
    days: int | None = (snapshot.to_dict() or {}).get("retention_days")
    return days
