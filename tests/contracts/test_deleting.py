"""Deleting a workspace while somebody is still at work in it: nothing outlives the deletion, and everything is counted."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from ferryman.domain.files.writes import FileWrite
from ferryman.domain.jobs.job import Job, JobStatus
from ferryman.domain.jobs.parts import PARTS, WorkspacePart
from ferryman.domain.workspaces.audit import AuditEntry
from ferryman.domain.workspaces.workspace import Workspace
from ferryman.inmemory.clock import ManualClock
from ferryman.inmemory.jobs import MemoryJobQueue
from ferryman.inmemory.log import RecordingLog
from ferryman.inmemory.objects import MemoryObjects
from ferryman.jobs.dependencies import JobDependencies
from ferryman.jobs.files import FILES_PER_COMMIT
from ferryman.jobs.run import deliver
from ferryman.ports.errors import UnavailableError
from ferryman.ports.files import Files
from ferryman.ports.jobs import JobProgress, JobWork
from ferryman.tools.files.workspace_files import WorkspaceFiles
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


def build_dependencies(stores: Stores, work: JobWork, files: Files | None = None) -> JobDependencies:
    return JobDependencies(
        jobs=stores.jobs,
        work=work,
        files=files,
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


class DyingFiles(WorkspaceFiles):
    """Files whose function dies after so many deletions, each half done: emptied, or taken away."""

    def __init__(self, objects: MemoryObjects, lives: int) -> None:
        super().__init__(objects)
        self._lives = lives

    def live(self) -> None:
        self._lives -= 1
        if self._lives < 0:
            raise UnavailableError("it died")

    async def delete(self, *arguments: Any, **named: Any) -> FileWrite | None:
        self.live()
        return await super().delete(*arguments, **named)

    async def purge(self, *arguments: Any, **named: Any) -> None:
        self.live()
        await super().purge(*arguments, **named)


@pytest.mark.parametrize("lives", [0, 1, 2, 3, 7, 1_000])
async def test_the_files_of_a_workspace_are_deleted_and_each_is_counted_once(stores: Stores, lives: int) -> None:
    await stores.workspaces.create(Workspace(id="ws_1", owner="ann", name="w", created_at=NOW, updated_at=NOW))
    objects, count = MemoryObjects(ManualClock(NOW)), FILES_PER_COMMIT + 2
    for key in (*(f"workspaces/ws_1/a/{number:03d}" for number in range(count)), "workspaces/ws_10/a", "workspaces/ws_2/a"):
        await objects.put(key, b"x", content_type="text/plain")
    await stores.file_quotas.reserve("ws_1", "w", owner="ann", size_bytes=1, limit_bytes=9, now=NOW)
    await stores.jobs.start(build_job())
    clock = ManualClock(NOW)
    for files in (DyingFiles(objects, lives), WorkspaceFiles(objects)):
        deps = replace(build_dependencies(stores, stores.job_work, files), clock=clock)
        with suppress(UnavailableError):
            await deliver(deps, "job_1", slice=0, holder="h")
        clock.turn(2 * LEASE)  # until the lease of who died is over
    job = await stores.jobs.get("job_1")
    assert job is not None
    assert job.receipt is not None
    assert (job.receipt.counts["files"], job.files) == (count, ())
    assert list(objects._objects) == ["workspaces/ws_10/a", "workspaces/ws_2/a"]
    assert (await stores.file_quotas.get("ws_1")).reservations == {}


async def test_what_a_deletion_has_left_goes_with_the_workspace_and_is_no_file(stores: Stores) -> None:
    await stores.workspaces.create(Workspace(id="ws_1", owner="ann", name="w", created_at=NOW, updated_at=NOW))
    objects = MemoryObjects(ManualClock(NOW))
    files = WorkspaceFiles(objects)
    for key in ("a", "b"):
        await files.write("ws_1", key, b"x", content_type="text/plain", write=f"put.{key}")
    await files.delete("ws_1", "a", write="del")
    await stores.jobs.start(build_job())
    assert await deliver(build_dependencies(stores, stores.job_work, files), "job_1", slice=0, holder="h")
    job = await stores.jobs.get("job_1")
    assert job is not None
    assert job.receipt is not None
    assert (job.receipt.counts["files"], objects._objects) == (1, {})


async def test_without_a_bucket_nothing_is_asked_of_one(stores: Stores) -> None:
    await stores.workspaces.create(Workspace(id="ws_1", owner="ann", name="w", created_at=NOW, updated_at=NOW))
    await stores.jobs.start(build_job())
    assert await deliver(build_dependencies(stores, stores.job_work), "job_1", slice=0, holder="h")
    job = await stores.jobs.get("job_1")
    assert job is not None
    assert job.receipt is not None
    assert "files" not in job.receipt.counts
