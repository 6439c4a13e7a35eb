"""The ports of jobs: their documents, what they change, and the queue that delivers them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from ferryman.domain.executions.execution import Execution
from ferryman.domain.jobs.deletion_receipt import DeletionReceipt
from ferryman.domain.jobs.job import Job
from ferryman.domain.jobs.parts import WorkspacePart
from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.page import Page, Position
from ferryman.ports.queue import NOW


@dataclass(frozen=True, slots=True)
class JobProgress:
    """The job after a commit, and whether there is more of the part that this commit could have deleted."""

    job: Job
    more: bool


class Jobs(Protocol):
    """The jobs of owners. Every write of a holder raises `StaleError` when its lease has passed to another or has expired.

    `start` stores a job, and takes its subject away in the same commit: a workspace is found by nobody from then on, an agent's
    document is gone. It raises `AnsweredError`, and KeyError, with nothing stored, where there is no such subject;
    `AgentHasTasksError` for an agent that has tasks, where these are to be spared. `claim`
    returns the job with a new lease and True, or the stored one and False where it is not to be worked on; it raises KeyError
    for an unknown job. `find` returns the newest about a subject in a workspace, or None: that workspace itself, or an agent or
    person who was there. `list` answers the newest first, of a workspace where one is named.
    """

    async def start(self, job: Job, *, spares_tasks: bool = False, done: Completion | None = None) -> None: ...
    async def get(self, job: str) -> Job | None: ...
    async def find(self, owner: str, *, workspace: str, subject: str) -> Job | None: ...
    async def list(
        self, owner: str, *, workspace: str | None = None, after: Position | None = None, most: int = 50
    ) -> Page[Job]: ...
    async def claim(self, job: str, *, slice: int, holder: str, now: datetime, lease: timedelta) -> tuple[Job, bool]: ...
    async def hand_over(self, job: Job, *, now: datetime) -> int: ...


class JobWork(Protocol):
    """What the holder of a job's lease changes: a bounded commit each, which counts what it deletes and renews the lease.

    `unended` returns the executions of the job's subject that have not ended. `disable_tasks` turns off some of its tasks, and
    returns whether there are more. `delete` deletes at most `most` documents of a part, and no execution that has not ended;
    `note` keeps which executions it ends or hands over, and counts them; `take_over` names who answers for one from now on.
    `note_files` keeps which files are deleted next, and counts those that were not noted before: a bucket has no transactions.
    `finish` ends the job with its receipt, and deletes what is left of its subject.
    """

    async def unended(self, job: Job) -> Sequence[Execution]: ...
    async def disable_tasks(self, job: Job, *, most: int, now: datetime, lease: timedelta) -> JobProgress: ...
    async def delete(self, job: Job, part: WorkspacePart, *, most: int, now: datetime, lease: timedelta) -> JobProgress: ...
    async def note(self, job: Job, executions: Collection[str], *, now: datetime, lease: timedelta) -> Job: ...
    async def note_files(self, job: Job, files: Sequence[str], *, now: datetime, lease: timedelta) -> Job: ...
    async def take_over(self, job: Job, execution: str, *, now: datetime) -> None: ...
    async def finish(self, job: Job, receipt: DeletionReceipt | None, *, now: datetime) -> None: ...


class JobQueue(Protocol):
    """The queue of jobs. Enqueuing the same job and slice twice enqueues once; `wake_up` names one further delivery."""

    async def enqueue(self, job: str, *, slice: int, after: timedelta = NOW, wake_up: str = "") -> None: ...
