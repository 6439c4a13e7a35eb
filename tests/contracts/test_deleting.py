"""Deleting a workspace while somebody is still at work in it: nothing outlives the deletion, and everything is counted."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from ferryman.domain.jobs.job import Job, JobStatus
from ferryman.domain.jobs.parts import PARTS, WorkspacePart
from ferryman.domain.workspaces.audit import AuditEntry
from ferryman.domain.workspaces.workspace import Workspace
from ferryman.inmemory.clock import ManualClock
from ferryman.inmemory.jobs import MemoryJobQueue
from ferryman.inmemory.log import RecordingLog
from ferryman.jobs.dependencies import JobDependencies
from ferryman.jobs.run import deliver
from ferryman.ports.jobs import JobProgress, JobWork
from ferryman.vault import sign

from .belongings import build_job, fill_with_people
from .conftest import Stores
from .values import LEASE, NOW

SIGNER = sign.SigningKey(1, bytes(range(32)))


@dataclass
class LateWork:
    """The work of a job. A request that was under way stores its last entry after the first round of the parts."""

    stores: Stores
    is_stored: bool = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stores.job_work, name)

    async def delete(self, job: Job, part: WorkspacePart, *, most: int, now: datetime, lease: timedelta) -> JobProgress:
        deleted = await self.stores.job_work.delete(job, part, most=most, now=now, lease=lease)
        if part is PARTS[-1] and not self.is_stored:
            self.is_stored = True
            entry = AuditEntry(id="audit_late", owner="ann", workspace="ws_1", action="changeTask", created_at=NOW)
            await self.stores.audit.add(entry)
        return deleted


@dataclass
class Signing:
    """The signing key of the deployment."""

    async def key(self) -> sign.SigningKey:
        return SIGNER


def build_dependencies(stores: Stores, work: JobWork) -> JobDependencies:
    return JobDependencies(
        jobs=stores.jobs,
        work=work,
        executions=stores.executions,
        queue=stores.queue,
        job_queue=MemoryJobQueue(),
        signing=Signing(),
        clock=ManualClock(NOW),
        tracer=RecordingLog(),
        lease=LEASE,
    )


async def test_what_is_stored_after_its_part_was_gone_over_is_deleted_and_counted_as_well(stores: Stores) -> None:
    await stores.workspaces.create(Workspace(id="ws_1", owner="ann", name="w", created_at=NOW, updated_at=NOW))
    await fill_with_people(stores, "ws_1")
    before = len((await stores.audit.list("ann", "ws_1", most=99)).items)
    await stores.jobs.start(build_job())
    work: Any = LateWork(stores)
    assert await deliver(build_dependencies(stores, work), "job_1", slice=0, holder="h")
    job = await stores.jobs.get("job_1")
    assert job is not None
    assert job.receipt is not None
    assert (job.status, job.receipt.counts["audit_entries"]) == (JobStatus.DONE, before + 1)
    assert (await stores.audit.list("ann", "ws_1", most=99)).items == ()
