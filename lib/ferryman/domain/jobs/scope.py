"""What a job is about: which executions and tasks belong to its subject, and the balances and parts that go with it."""

from __future__ import annotations

from ferryman.domain.executions.execution import ExecutionSummary
from ferryman.domain.jobs.job import Job, JobKind


def concerns(job: Job, execution: ExecutionSummary) -> bool:
    """Tell whether `execution` belongs to the subject of `job`."""
    if (execution.owner, execution.workspace) != (job.owner, job.workspace):
        return False
    if job.kind is JobKind.DELETE_WORKSPACE:
        return True
    return job.subject == (execution.agent if job.kind is JobKind.DELETE_AGENT else execution.person)


def name_scope(job: Job) -> dict[str, str]:
    """Return the fields, with their values, that documents of the subject of `job` have."""
    scope = {"workspace": job.workspace}
    return {**scope, "agent": job.subject} if job.kind is JobKind.DELETE_AGENT else scope
