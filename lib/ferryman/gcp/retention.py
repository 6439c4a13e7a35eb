"""Retention: when a document of an execution may go, in the field by which the database deletes documents itself."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from ferryman.domain.executions.execution import Execution
from ferryman.settings import Settings

EXPIRE_AT = "expire_at"
"""The field of the TTL policies in infra/firestore.indexes.json; a document without it stays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """`kept` is how long an execution is kept after its end, None for ever; `execution_timeout` the longest that one may take.

    The execution's own document is told its time at its end, and so never goes before. Those below it are told theirs when
    they are written, since there may be hundreds to write once more at the end.
    """

    kept: timedelta | None = None
    execution_timeout: timedelta = timedelta(0)

    @classmethod
    def of(cls, settings: Settings) -> Retention:
        """As the settings say."""
        kept = timedelta(days=settings.retention_days) if settings.retention_days else None
        return cls(kept=kept, execution_timeout=timedelta(seconds=settings.execution_s))

    def below(self, execution: Execution, now: datetime) -> dict[str, Any]:
        """The field of a document below `execution` that is written `now`: reckoned from the latest end there may be.

        After that end an execution takes no turn any more, so that none is taken without all that went before it.
        """
        return self.ended(max(now, (execution.started_at or now) + self.execution_timeout))

    def ended(self, at: datetime) -> dict[str, Any]:
        """The field of an execution that ended `at`; none where it is kept for ever."""
        return {} if self.kept is None else {EXPIRE_AT: at + self.kept}
