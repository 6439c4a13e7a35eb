"""Members over HTTP: listed, changed, and removed, which ends all that they may do at once."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from ferryman.composition.api import ApiDependencies
from ferryman.domain.executions.execution import OWNER
from ferryman.domain.ids import is_id
from ferryman.domain.jobs.job import LEAVING, Job, JobKind
from ferryman.domain.problem import build_input_error
from ferryman.domain.workspaces.member import Membership, Right
from ferryman.domain.workspaces.person import LastAdminError, Person
from ferryman.jobs import starting
from ferryman.serving.api.access import ASKS, MANAGES, READS, CurrentCaller, Dependencies
from ferryman.serving.api.errors import ConflictError, NotFoundError
from ferryman.serving.api.jobs import answer_again, answer_job, build_job, find_started_job
from ferryman.serving.api.paging import ByName, cut_by_name
from ferryman.serving.api.rights import Caller, check_given, check_right, check_whole
from ferryman.serving.api.shapes import people as shapes
from ferryman.serving.api.shapes.job import JobResponse

router = APIRouter(prefix="/v1/members", tags=["people"])

LAST_ADMIN = "they are the workspace's last admin: make somebody else one first, or ask with the owner's own key"


class Leaving(StrEnum):
    """What becomes of the executions that somebody who leaves has started."""

    END = "end"
    TAKE_OVER = "take_over"
    """They go on, and who removes the member answers for them."""


@router.get("", dependencies=[READS], summary="The members of the workspace")
async def list_members(deps: Dependencies, caller: CurrentCaller, paging: ByName) -> shapes.MemberList:
    stored = await deps.members.list(caller.owner.id, caller.workspace)
    here, following = cut_by_name(stored, paging, lambda member: member[0].person)
    return shapes.MemberList(members=tuple(to_member(*member) for member in here), next=following)


@router.get("/{person_id}", dependencies=[READS], summary="One member")
async def get_member(person_id: str, deps: Dependencies, caller: CurrentCaller) -> shapes.MemberResponse:
    membership = await _find(deps, caller, person_id)
    return to_member(membership, await deps.members.find_person(person_id, owner=caller.owner.id))


@router.patch("/{person_id}", dependencies=[MANAGES], summary="Change a member's role, right to approve, or limit of credits")
async def change_member(
    person_id: str, body: shapes.MemberChange, deps: Dependencies, caller: CurrentCaller
) -> shapes.MemberResponse:
    before = await _find(deps, caller, person_id)
    changes = {name: getattr(body, name) for name in body.model_fields_set}
    changed = replace(before, **changes)
    if changed.max_credits_month is not None and changed.max_credits_month < 0:
        raise build_input_error("max_credits_month", "must be 0 or more; null for no limit")
    check_given(changed.rights - before.rights, caller)
    try:
        if changes and not await deps.members.update(changed, tuple(changes), forced=caller.key.is_own):
            raise NotFoundError("member")
    except LastAdminError:
        raise ConflictError(LAST_ADMIN) from None
    return to_member(changed, await deps.members.find_person(person_id, owner=caller.owner.id))


@router.delete(
    "/{person_id}", dependencies=[ASKS], status_code=202, summary="Remove a member, or leave: nothing is let in from then on"
)
async def delete_member(
    person_id: str,
    deps: Dependencies,
    caller: CurrentCaller,
    request: Request,
    response: Response,
    executions: Annotated[
        Leaving, Query(description="What becomes of the executions that they started: they end, or you answer for them")
    ] = Leaving.END,
) -> JobResponse:
    is_self = bool(caller.person) and person_id == caller.person
    if is_self:
        check_whole(caller)
    else:
        check_right(Right.MANAGE, caller)
    if is_self and executions is Leaving.TAKE_OVER:
        raise build_input_error("executions", "must be end where you leave yourself: nobody is there who takes them over")
    ends = executions is Leaving.END
    kind = JobKind.END_EXECUTIONS if ends else JobKind.TAKE_OVER_EXECUTIONS
    job = build_job(deps, caller, kind, person_id, successor="" if ends else caller.person or OWNER)
    try:
        await _find(deps, caller, person_id)
        await _remove(deps, caller, job)
    except NotFoundError:
        started = await find_started_job(deps, caller, LEAVING, person_id)
        if started is None:
            raise
        return answer_again(started, request, response)
    return answer_job(job, response)


def to_member(membership: Membership, person: Person | None) -> shapes.MemberResponse:
    """Return a member as it is answered."""
    return shapes.MemberResponse(
        person_id=membership.person,
        name="" if person is None else person.name,
        role=membership.role,
        approves=membership.approves,
        max_credits_month=membership.max_credits_month,
        created_at=membership.created_at,
    )


async def _remove(deps: ApiDependencies, caller: Caller, job: Job) -> None:
    """End the membership of the subject of `job`, and start it in the same commit. Raise `NotFoundError`, and 409."""
    await starting.prepare_delivery(deps.job_queue, job)
    try:
        is_removed = await deps.members.remove(
            job.subject, owner=job.owner, workspace=job.workspace, forced=caller.key.is_own, job=job
        )
    except LastAdminError:
        raise ConflictError(LAST_ADMIN) from None
    if not is_removed:
        raise NotFoundError("member")
    await starting.deliver_soon(deps.job_queue, job, deps.tracer)


async def _find(deps: ApiDependencies, caller: Caller, person: str) -> Membership:
    known = await deps.members.get(person, owner=caller.owner.id, workspace=caller.workspace) if is_id(person) else None
    if known is None:
        raise NotFoundError("member")
    return known
