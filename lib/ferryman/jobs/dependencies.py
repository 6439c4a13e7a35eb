"""The dependencies of jobs: ports and durations, put together by the composition root."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from ferryman.ports.clock import Clock
from ferryman.ports.executions import Executions
from ferryman.ports.files import Files
from ferryman.ports.jobs import JobQueue, Jobs, JobWork
from ferryman.ports.keys import SigningKeys
from ferryman.ports.log import Tracer
from ferryman.ports.queue import Queue

SLICE = timedelta(seconds=60)
DOCUMENTS_PER_SLICE = 5_000
DOCUMENTS_PER_COMMIT = 100
"""A commit of Firestore may take 10 MiB, and the names of so many documents are some 10 KB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobDependencies:
    """Everything that jobs use. `queue` delivers executions, `job_queue` the slices of jobs; `files` is None without a bucket.

    A slice ends after the time of `slice`, or after `documents` documents that it deleted, whichever is first; one commit
    deletes at most `per_commit`.
    """

    jobs: Jobs
    work: JobWork
    files: Files | None
    executions: Executions
    queue: Queue
    job_queue: JobQueue
    signing: SigningKeys
    clock: Clock
    tracer: Tracer
    lease: timedelta
    slice: timedelta = SLICE
    documents: int = DOCUMENTS_PER_SLICE
    per_commit: int = DOCUMENTS_PER_COMMIT

    def log(self, event: str, **fields: Any) -> None:
        """Log one line."""
        self.tracer.line(event, **fields)
