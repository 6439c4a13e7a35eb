"""Jobs over HTTP: how far each is, and the receipt of what it has deleted."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends

from ferryman.composition.api import ApiDependencies
from ferryman.domain.ids import is_id
from ferryman.domain.jobs.job import Job, JobKind
from ferryman.domain.owners.idempotency import Completion
from ferryman.jobs import starting
from ferryman.serving.api.access import Dependencies, Reader
from ferryman.serving.api.errors import NotFoundError
from ferryman.serving.api.paging import ByTime
from ferryman.serving.api.rights import Caller
from ferryman.serving.api.shapes import job as shapes

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])


async def _job(job_id: str, deps: Dependencies, caller: Reader) -> Job:
    """Return the job of the path. The owner's own key is told of all of the owner's: a workspace's outlives the workspace."""
    stored = await deps.jobs.get(job_id) if is_id(job_id) else None
    if stored is None or stored.owner != caller.owner.id or (not caller.key.is_own and stored.workspace != caller.workspace):
        raise NotFoundError("job")
    return stored


OwnedJob = Annotated[Job, Depends(_job)]


@router.get("", summary="Jobs, newest first")
async def list_jobs(deps: Dependencies, caller: Reader, paging: ByTime) -> shapes.JobList:
    workspace = None if caller.key.is_own else caller.workspace
    page = await deps.jobs.list(caller.owner.id, workspace=workspace, after=paging.after, most=paging.limit)
    return shapes.JobList(jobs=tuple(map(shapes.JobResponse.model_validate, page)), next=paging.write_next(page.end))


@router.get("/{job_id}", summary="One job, with its progress")
async def get_job(job: OwnedJob) -> shapes.JobResponse:
    return shapes.JobResponse.model_validate(job)


@router.get("/{job_id}/receipt", summary="The signed receipt of a deletion, with the public keys")
async def get_deletion_receipt(job: OwnedJob, deps: Dependencies) -> shapes.DeletionDocument:
    if job.receipt is None:
        raise NotFoundError("receipt")
    keys = {str(version): key.hex() for version, key in deps.receipt_keys.items()}
    return shapes.DeletionDocument(receipt=shapes.DeletionReceiptResponse.model_validate(job.receipt), keys=keys)


def build_job(
    deps: ApiDependencies, caller: Caller, kind: JobKind, subject: str, *, workspace: str | None = None, successor: str = ""
) -> Job:
    """Return a new job of this kind that `caller` asks for, in the caller's workspace where no other one is named."""
    return Job(
        id=deps.ids.new("job"),
        owner=caller.owner.id,
        workspace=caller.workspace if workspace is None else workspace,
        kind=kind,
        subject=subject,
        person=caller.person,
        successor=successor,
        created_at=deps.clock.now(),
    )


async def start_job(
    deps: ApiDependencies, caller: Caller, job: Job, *, spares_tasks: bool = False, done: Completion | None = None
) -> shapes.JobResponse:
    """Start `job`, and return it as it is answered. Raise 404 where its subject is gone by now, and `AgentHasTasksError`."""
    noun = "agent" if job.subject != job.workspace else "workspace"
    try:
        await starting.start_job(deps.jobs, deps.job_queue, job, deps.tracer, spares_tasks=spares_tasks, done=done)
    except KeyError:
        raise NotFoundError(noun) from None
    deps.tracer.line("job.started", job=job.id, kind=job.kind.value, owner=caller.owner.id)
    return shapes.JobResponse.model_validate(job)
