"""Starting a job: it is delivered whatever becomes of the process that stores it."""

from __future__ import annotations

from datetime import timedelta

from ferryman.domain.jobs.job import Job
from ferryman.domain.owners.idempotency import Completion
from ferryman.ports.errors import UnavailableError
from ferryman.ports.jobs import JobQueue, Jobs
from ferryman.ports.log import Log

SAFETY = timedelta(seconds=60)
"""When a job is delivered whose starter died right after it was stored. Storing it takes no longer than a request may."""


async def start_job(
    jobs: Jobs, queue: JobQueue, job: Job, log: Log, *, spares_tasks: bool = False, done: Completion | None = None
) -> None:
    """Store `job`, which takes its subject away in the same commit, and have it delivered. Raise as `Jobs.start` does,
    and `UnavailableError`, with nothing stored, where the queue does not answer."""
    await prepare_delivery(queue, job)
    await jobs.start(job, spares_tasks=spares_tasks, done=done)
    await deliver_soon(queue, job, log)


async def prepare_delivery(queue: JobQueue, job: Job) -> None:
    """Have `job` delivered later. Called before it is stored, so that a crash in between loses nothing.

    Raise `UnavailableError`: then nothing is to be stored.
    """
    await queue.enqueue(job.id, slice=0, after=SAFETY, wake_up="safety")


async def deliver_soon(queue: JobQueue, job: Job, log: Log) -> None:
    """Have `job`, which is stored, delivered now; where that fails, the later delivery comes anyway."""
    try:
        await queue.enqueue(job.id, slice=0)
    except UnavailableError as error:
        log.line("job.not_enqueued", severity="WARNING", job=job.id, error=str(error))
