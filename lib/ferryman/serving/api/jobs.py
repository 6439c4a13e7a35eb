"""Jobs over HTTP: how far each is, and the receipt of what it has deleted."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

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


NOUNS = {JobKind.DELETE_AGENT: "agent", JobKind.DELETE_CONVERSATION: "conversation"}


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
    deps: ApiDependencies,
    caller: Caller,
    job: Job,
    response: Response,
    *,
    spares_tasks: bool = False,
    done: Completion | None = None,
) -> shapes.JobResponse:
    """Start `job`, and answer it. Raise 404 where its subject is gone by now, and `AgentHasTasksError`."""
    noun = NOUNS.get(job.kind, "workspace")
    try:
        await starting.start_job(deps.jobs, deps.job_queue, job, deps.tracer, spares_tasks=spares_tasks, done=done)
    except KeyError:
        raise NotFoundError(noun) from None
    deps.tracer.line("job.started", job=job.id, kind=job.kind.value, owner=caller.owner.id)
    return answer_job(job, response)


async def find_started_job(
    deps: ApiDependencies, caller: Caller, kinds: Collection[JobKind], subject: str, *, workspace: str | None = None
) -> Job | None:
    """Return the job of such a kind that an earlier request has started about `subject`, in the caller's workspace where no
    other one is named: who repeats a request whose answer was lost is answered with it."""
    place = caller.workspace if workspace is None else workspace
    started = await deps.jobs.find(caller.owner.id, workspace=place, subject=subject) if is_id(subject) else None
    return started if started is not None and started.kind in kinds else None


def answer_again(job: Job, request: Request, response: Response) -> shapes.JobResponse:
    """Answer a job that an earlier request has started: this one changes nothing, and leaves no audit entry."""
    request.state.is_repeated = True
    return answer_job(job, response)


def answer_job(job: Job, response: Response) -> shapes.JobResponse:
    """Return `job` as it is answered, and say where it is."""
    response.headers["Location"] = f"/v1/jobs/{job.id}"
    return shapes.JobResponse.model_validate(job)
