"""One delivery of a job: claim its lease, work until it is done or its slice is over, and hand over.

A lease with a fencing token (the epoch) lets one delivery at a time write. What a job has done shows in what is left: a
delivery after a death begins at the first part again, and finds there what is still to be done.
"""

from __future__ import annotations

from datetime import timedelta

from ferryman.domain.jobs.job import Job, JobKind, JobStatus
from ferryman.domain.stale import StaleError
from ferryman.jobs import deleting, leaving
from ferryman.jobs.dependencies import JobDependencies
from ferryman.jobs.pause import Pause
from ferryman.ports.errors import UnavailableError

WORKERS = {
    JobKind.DELETE_WORKSPACE: deleting.work,
    JobKind.DELETE_AGENT: deleting.work,
    JobKind.DELETE_CONVERSATION: deleting.work,
    JobKind.END_EXECUTIONS: leaving.end_executions,
    JobKind.TAKE_OVER_EXECUTIONS: leaving.take_over_executions,
}


async def deliver(deps: JobDependencies, job: str, *, slice: int, holder: str) -> bool:
    """Deliver the `slice`, counted from 0: work on `job` as far as that goes. Return whether the queue may drop this delivery.

    False has it delivered again. `holder` names this delivery, and no other one.
    """
    now = deps.clock.now()
    try:
        claimed, is_ours = await deps.jobs.claim(job, slice=slice, holder=holder, now=now, lease=deps.lease)
        if not is_ours:
            return await _skip(deps, claimed, slice)
        deps.log("job.began", job=job, kind=claimed.kind.value, slice=slice)
        pause = await WORKERS[claimed.kind](deps, claimed, until=now + deps.slice)
        if pause is not None:
            await _hand_over(deps, pause)
    except KeyError:
        deps.log("job.unknown", job=job)
        return True
    except (StaleError, UnavailableError) as error:
        deps.log("job.paused", job=job, reason=str(error))
        return False
    deps.log("job.ended", job=job, slice=slice, again=pause is not None, reason="" if pause is None else pause.reason)
    return True


async def _skip(deps: JobDependencies, job: Job, slice: int) -> bool:
    """Return whether the queue may drop a delivery whose job is done, in a later slice, or held by another."""
    if job.status is JobStatus.DONE:
        return True
    if slice < job.slice:
        # the delivery that handed over may have died before the next slice was enqueued
        await deps.job_queue.enqueue(job.id, slice=job.slice)
        return True
    return False


async def _hand_over(deps: JobDependencies, pause: Pause) -> None:
    following = await deps.jobs.hand_over(pause.job, now=deps.clock.now())
    await deps.job_queue.enqueue(pause.job.id, slice=following, after=max(timedelta(0), pause.after))
