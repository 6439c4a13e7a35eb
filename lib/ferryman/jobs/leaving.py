"""The executions of a person who left: they end, or somebody else answers for them from now on, as the admin chose."""

from __future__ import annotations

from datetime import datetime

from ferryman.domain.jobs.job import Job
from ferryman.jobs.dependencies import JobDependencies
from ferryman.jobs.pause import WAIT, Pause, cancel_all


async def end_executions(deps: JobDependencies, job: Job, *, until: datetime) -> Pause | None:  # noqa: ARG001 - bounded by the plan
    """Cancel what the person has under way, and finish the job once all of it has ended; or return that it has to wait.

    Raise `StaleError` or `UnavailableError`.
    """
    unended = await deps.work.unended(job)
    if unended:
        names = [execution.id for execution in unended]
        job = await deps.work.note(job, names, now=deps.clock.now(), lease=deps.lease)
        await cancel_all(deps, job, list(unended))
    waiting = len(await deps.work.unended(job))
    if waiting:
        return Pause(job=job, reason=f"{waiting} executions have not ended", after=WAIT)
    await deps.work.finish(job, None, now=deps.clock.now())
    return None


async def take_over_executions(deps: JobDependencies, job: Job, *, until: datetime) -> Pause | None:  # noqa: ARG001 - likewise
    """Name the successor on what the person has under way, and finish the job. Raise `StaleError` or `UnavailableError`."""
    unended = await deps.work.unended(job)
    if unended:
        names = [execution.id for execution in unended]
        job = await deps.work.note(job, names, now=deps.clock.now(), lease=deps.lease)
        for name in names:
            await deps.work.take_over(job, name, now=deps.clock.now())
    await deps.work.finish(job, None, now=deps.clock.now())
    return None
