"""Jobs in memory, and the queue that delivers them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from ferryman.domain.changes import change_value
from ferryman.domain.copies import replace
from ferryman.domain.jobs import job as rules
from ferryman.domain.jobs.job import Job, JobKind
from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.page import Page, Position
from ferryman.domain.workspaces.agent import AgentHasTasksError
from ferryman.domain.workspaces.workspace import WorkspaceState
from ferryman.inmemory import keyed
from ferryman.inmemory.memory import Memory, MemoryStore
from ferryman.ports.queue import NOW


class MemoryJobs(MemoryStore):
    """`ports.Jobs`."""

    async def start(self, job: Job, *, spares_tasks: bool = False, done: Completion | None = None) -> None:
        keyed.check_completion(self._memory, done)
        if job.id in self._memory.jobs:
            return
        if job.kind is JobKind.DELETE_WORKSPACE:
            self._close_workspace(job)
        elif job.kind is JobKind.DELETE_AGENT:
            self._remove_agent(job, spares_tasks)
        elif job.kind is JobKind.DELETE_CONVERSATION:
            self._close_conversation(job)
        self._memory.jobs[job.id] = job
        keyed.store_completion(self._memory, done)

    def _close_workspace(self, job: Job) -> None:
        stored = self._memory.workspaces[job.subject]
        if stored.owner != job.owner or stored.is_default or stored.state is WorkspaceState.DELETING:
            raise KeyError(job.subject)
        closed = change_value(stored, {"state": WorkspaceState.DELETING}, now=job.created_at)
        self._memory.workspaces[job.subject] = closed

    def _remove_agent(self, job: Job, spares_tasks: bool) -> None:
        stored = self._memory.agents[job.subject]
        if (stored.owner, stored.workspace) != (job.owner, job.workspace) or stored.is_default:
            raise KeyError(job.subject)
        if spares_tasks and any(task.agent == job.subject for task in self._memory.tasks.values()):
            raise AgentHasTasksError
        del self._memory.agents[job.subject]

    def _close_conversation(self, job: Job) -> None:
        stored = self._memory.conversations[job.subject]
        if (stored.owner, stored.workspace) != (job.owner, job.workspace) or stored.is_deleting:
            raise KeyError(job.subject)
        self._memory.conversations[job.subject] = replace(stored, is_deleting=True)

    async def get(self, job: str) -> Job | None:
        return self._memory.jobs.get(job)

    async def find(self, owner: str, *, workspace: str, subject: str) -> Job | None:
        place = (owner, workspace, subject)
        known = [job for job in self._memory.jobs.values() if (job.owner, job.workspace, job.subject) == place]
        return max(known, key=_locate, default=None)

    async def list(
        self, owner: str, *, workspace: str | None = None, after: Position | None = None, most: int = 50
    ) -> Page[Job]:
        known = [job for job in self._memory.jobs.values() if job.owner == owner and workspace in (None, job.workspace)]
        newest = sorted(known, key=_locate, reverse=True)
        rest = [job for job in newest if after is None or _locate(job) < after]
        return Page(items=tuple(rest[:most]), end=_locate(rest[most - 1]) if len(rest) > most else None)

    async def claim(self, job: str, *, slice: int, holder: str, now: datetime, lease: timedelta) -> tuple[Job, bool]:
        current = self._memory.jobs[job]
        claimed = rules.acquire_job(current, slice=slice, holder=holder, now=now, length=lease)
        if claimed is None:
            return current, False
        self._memory.jobs[job] = claimed
        return claimed, True

    async def hand_over(self, job: Job, *, now: datetime) -> int:
        after = rules.hand_over_job(check(self._memory, job, now), now)
        self._memory.jobs[job.id] = after
        return after.slice


def check(memory: Memory, job: Job, now: datetime) -> Job:
    """Return the stored job that the holder of `job` may change. Raise `StaleError`."""
    return rules.check_job(memory.jobs.get(job.id), job, now)


def _locate(job: Job) -> Position:
    return Position(job.created_at, job.id)


@dataclass(frozen=True, slots=True)
class QueuedJob:
    """A slice of a job that is to be delivered `after` this time."""

    job: str
    slice: int
    after: timedelta
    wake_up: str = ""


class MemoryJobQueue:
    """`ports.JobQueue`. A name that was ever used is not used again, taken or not, as in Cloud Tasks."""

    def __init__(self) -> None:
        self._named: set[tuple[str, int, str]] = set()
        self.waiting: list[QueuedJob] = []

    async def enqueue(self, job: str, *, slice: int, after: timedelta = NOW, wake_up: str = "") -> None:
        if (job, slice, wake_up) not in self._named:
            self._named.add((job, slice, wake_up))
            self.waiting.append(QueuedJob(job, slice, after, wake_up))
