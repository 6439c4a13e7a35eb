"""A pause: why a job goes on in its next slice, and when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from ferryman.domain.executions.execution import OWNER, Execution
from ferryman.domain.jobs.job import Job
from ferryman.jobs.dependencies import JobDependencies

WAIT = timedelta(seconds=2)
"""How long a job waits before it asks again whether executions have ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """The job as its holder has it, and `after` which time its next slice is to come."""

    job: Job
    reason: str
    after: timedelta = timedelta(0)


async def cancel_all(deps: JobDependencies, job: Job, executions: list[Execution]) -> None:
    """Cancel executions that have not ended, and wake those that wait for their next slice. Raise `UnavailableError`."""
    by, now = job.person or OWNER, deps.clock.now()
    for execution in executions:
        stored = execution if execution.cancel_requested else await deps.executions.cancel(execution.id, by=by, now=now)
        if stored is not None and not stored.status.terminal:
            # also where an earlier delivery has cancelled it: that one may have died before this
            await deps.queue.enqueue(execution.id, slice=stored.slice, wake_up=f"job-{job.id}")
