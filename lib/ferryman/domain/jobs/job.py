"""A job as stored, its lease with the fencing token (the epoch), and how a commit of its holder changes it.

What is deleted and the count of it change in one commit: whatever dies in between, a document is counted once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum

from ferryman.domain.executions.execution import Lease
from ferryman.domain.jobs.deletion_receipt import DeletionReceipt
from ferryman.domain.stale import StaleError


class JobKind(StrEnum):
    """What a job does to its subject."""

    DELETE_WORKSPACE = "delete_workspace"
    DELETE_AGENT = "delete_agent"
    DELETE_CONVERSATION = "delete_conversation"
    END_EXECUTIONS = "end_executions"
    """Of a person who left the workspace."""
    TAKE_OVER_EXECUTIONS = "take_over_executions"
    """Likewise: they go on, and somebody else answers for them."""


FILES = "files"
"""What the files of a workspace are counted as."""

LEAVING = (JobKind.END_EXECUTIONS, JobKind.TAKE_OVER_EXECUTIONS)
"""What becomes of the executions of a person who leaves."""


class JobStatus(StrEnum):
    """How far a job is."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job as stored.

    `subject` is the id of what it is about: a workspace, an agent or a conversation of `workspace`, or a person who left it.
    `person` asked for it, "" with the owner's own key; `successor` is who takes executions over, and `executions` are those
    that it ends or hands over. `files` are the keys of those that it is deleting, which are counted already. `stage` is what is
    being deleted, and `counts` how many of each kind were. `slice` is the delivery that may go on.
    """

    id: str
    owner: str
    workspace: str
    kind: JobKind
    subject: str
    person: str = ""
    successor: str = ""
    status: JobStatus = JobStatus.QUEUED
    stage: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)
    executions: tuple[str, ...] = ()
    files: tuple[str, ...] = field(default=(), repr=False)
    slice: int = 0
    lease: Lease | None = None
    created_at: datetime
    completed_at: datetime | None = None
    receipt: DeletionReceipt | None = None

    @property
    def epoch(self) -> int:
        """The epoch of the latest lease; 0 before the first."""
        return self.lease.epoch if self.lease else 0

    def add_counts(self, stage: str, counts: Mapping[str, int]) -> Job:
        """Return the job after a commit of this stage that deleted as many of each kind."""
        total = {name: self.counts.get(name, 0) + counts.get(name, 0) for name in sorted({*self.counts, *counts})}
        return replace(self, stage=stage, counts={name: number for name, number in total.items() if number})


def acquire_job(current: Job, *, slice: int, holder: str, now: datetime, length: timedelta) -> Job | None:
    """Return the job leased to `holder` for this slice, or None: it is done, has a later slice, or is leased."""
    is_leased = current.lease is not None and current.lease.expires_at > now
    if current.status is JobStatus.DONE or slice < current.slice or is_leased:
        return None
    lease = Lease(holder=holder, epoch=current.epoch + 1, expires_at=now + length)
    return replace(current, status=JobStatus.RUNNING, lease=lease)


def check_job(current: Job | None, claimed: Job, now: datetime) -> Job:
    """Return the stored job that the holder of `claimed` may change. Raise `StaleError` where its lease is not the one."""
    lease = None if current is None else current.lease
    if current is None or lease is None or claimed.lease is None or lease.epoch != claimed.lease.epoch:
        raise StaleError("the lease has passed to another holder")
    if lease.expires_at <= now or current.status is JobStatus.DONE:
        raise StaleError("the lease has expired")
    return current


def renew_job(current: Job, now: datetime, length: timedelta) -> Job:
    """Return `current` with its lease for as long again."""
    assert current.lease is not None, "it was checked"
    return replace(current, lease=replace(current.lease, expires_at=now + length))


def hand_over_job(current: Job, now: datetime) -> Job:
    """Return `current` released for the next slice; the epoch stays, so no further write of this holder is accepted."""
    assert current.lease is not None, "it was checked"
    return replace(current, slice=current.slice + 1, lease=replace(current.lease, expires_at=now))


def note_executions(current: Job, executions: tuple[str, ...]) -> Job:
    """Return `current` with the executions that it ends or hands over."""
    return replace(current, executions=executions)


def note_files(current: Job, files: tuple[str, ...]) -> Job:
    """Return `current` with the files that are deleted next: they are counted before, and once, whatever dies in between."""
    new = set(files) - set(current.files)
    return replace(current.add_counts(FILES, {FILES: len(new)}), files=files)


def finish_job(current: Job, receipt: DeletionReceipt | None, now: datetime) -> Job:
    """Return `current` as it is done `now`, with its receipt."""
    return replace(current, status=JobStatus.DONE, stage="", files=(), lease=None, completed_at=now, receipt=receipt)
