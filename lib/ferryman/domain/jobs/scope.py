"""What a job is about: which executions and tasks belong to its subject, and the balances and parts that go with it."""

from __future__ import annotations

from ferryman.domain.executions.execution import ExecutionSummary
from ferryman.domain.jobs.job import Job, JobKind
from ferryman.domain.jobs.parts import AGENTS, CONVERSATIONS, MEMBERS, TASKS, WorkspacePart
from ferryman.domain.owners.cap import CapKind, name_part, name_person_part
from ferryman.domain.workspaces.names import derive_default_agent


def concerns(job: Job, execution: ExecutionSummary) -> bool:
    """Tell whether `execution` belongs to the subject of `job`."""
    if (execution.owner, execution.workspace) != (job.owner, job.workspace):
        return False
    subjects = {
        JobKind.DELETE_WORKSPACE: execution.workspace,
        JobKind.DELETE_AGENT: execution.agent,
        JobKind.DELETE_CONVERSATION: execution.conversation,
    }
    return job.subject == subjects.get(job.kind, execution.person)


def name_balance_part(job: Job, part: WorkspacePart, name: str) -> str | None:
    """Return the part of the owner's balance that ends with the task, agent or member of this name; None for anything else."""
    if part is MEMBERS:
        return name_part(CapKind.PERSON, name_person_part(job.workspace, name))
    kind = {TASKS.name: CapKind.TASK, AGENTS.name: CapKind.AGENT}.get(part.name)
    return None if kind is None else name_part(kind, name)


def list_subject_parts(job: Job) -> tuple[str, ...]:
    """Return the parts of the owner's balance that end with the subject of `job` itself."""
    if job.kind is JobKind.DELETE_WORKSPACE:
        # the default agent has no document of its own
        default = name_part(CapKind.AGENT, derive_default_agent(job.workspace))
        return name_part(CapKind.WORKSPACE, job.workspace), default
    return (name_part(CapKind.AGENT, job.subject),) if job.kind is JobKind.DELETE_AGENT else ()


def name_scope(job: Job, part: WorkspacePart) -> dict[str, str]:
    """Return the fields, with their values, that documents of a part of the subject of `job` have."""
    scope = {"workspace": job.workspace}
    if job.kind is JobKind.DELETE_CONVERSATION:
        return {**scope, "id" if part is CONVERSATIONS else "conversation": job.subject}
    return {**scope, "agent": job.subject} if job.kind is JobKind.DELETE_AGENT else scope
