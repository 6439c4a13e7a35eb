"""Deleting a workspace, an agent or a conversation: nothing starts any more, what runs ends, and then each part is deleted.

The parts are gone over until nothing of any is left: what a request that was under way has stored meanwhile goes as well.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from ferryman.domain.jobs.deletion_receipt import DeletionReceipt
from ferryman.domain.jobs.job import Job, JobKind
from ferryman.domain.jobs.parts import SUBJECTS, list_parts
from ferryman.domain.receipts.receipt import format_moment
from ferryman.jobs.dependencies import JobDependencies
from ferryman.jobs.files import delete_files
from ferryman.jobs.pause import WAIT, Pause, cancel_all


async def work(deps: JobDependencies, job: Job, *, until: datetime) -> Pause | None:
    """Delete until nothing is left, and finish the job with its receipt; or return why the rest is for the next slice.

    Raise `StaleError` or `UnavailableError`.
    """
    worked = Slice(deps, job, until)
    while True:
        before = worked.job.counts
        if (pause := await worked.stop_executions()) is not None:
            return pause
        for part in list_parts(job.kind):
            is_more = True
            while is_more:
                if worked.is_over:
                    return Pause(job=worked.job, reason="the slice is over")
                deleted = await deps.work.delete(worked.job, part, most=deps.per_commit, now=deps.clock.now(), lease=deps.lease)
                worked.job, is_more = deleted.job, deleted.more
        while job.kind is JobKind.DELETE_WORKSPACE and deps.files is not None:
            if worked.is_over:
                return Pause(job=worked.job, reason="the slice is over")
            worked.job, is_more = await delete_files(deps, deps.files, worked.job)
            if not is_more:
                break
        if worked.job.counts == before:
            await finish(deps, worked.job)
            return None


class Slice:
    """A slice under way: the job as its lease's holder has it, and when the slice is over."""

    def __init__(self, deps: JobDependencies, job: Job, until: datetime) -> None:
        self._deps = deps
        self._until = until
        self._begun_with = sum(job.counts.values())
        self.job = job

    @property
    def is_over(self) -> bool:
        """Whether the time of the slice is over, or as many documents were deleted as one slice may delete."""
        deleted = sum(self.job.counts.values()) - self._begun_with
        return deleted >= self._deps.documents or self._deps.clock.now() >= self._until

    async def stop_executions(self) -> Pause | None:
        """Have nothing start any more, and cancel what has not ended; return the pause where something has not.

        Raise `StaleError` or `UnavailableError`.
        """
        deps, is_more = self._deps, self.job.kind is not JobKind.DELETE_CONVERSATION
        while is_more:
            stopped = await deps.work.disable_tasks(self.job, most=deps.per_commit, now=deps.clock.now(), lease=deps.lease)
            self.job, is_more = stopped.job, stopped.more
        await cancel_all(deps, self.job, list(await deps.work.unended(self.job)))
        waiting = len(await deps.work.unended(self.job))
        return Pause(job=self.job, reason=f"{waiting} executions have not ended", after=WAIT) if waiting else None


async def finish(deps: JobDependencies, job: Job) -> None:
    """Sign the receipt, and store it together with the job's end and the deletion of what is left of its subject.

    It counts the subject itself as well. Raise `StaleError` or `UnavailableError`.
    """
    signer, now = await deps.signing.key(), deps.clock.now()
    counts = Counter(job.counts) + Counter(SUBJECTS[job.kind])
    receipt = DeletionReceipt(
        job=job.id,
        kind=job.kind.value,
        workspace=job.workspace,
        subject=job.subject,
        person=job.person,
        counts=dict(sorted(counts.items())),
        requested_at=format_moment(job.created_at),
        completed_at=format_moment(now),
        key=signer.version,
    ).sign(signer.sign)
    await deps.work.finish(job, receipt, now=now)
