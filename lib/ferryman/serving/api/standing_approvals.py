"""Standing approvals over HTTP: what a person approves beforehand, for a time and for a number of calls."""

from __future__ import annotations

from datetime import timedelta

from fastapi import APIRouter
from starlette.responses import Response

from ferryman.catalog.tools import TOOLS
from ferryman.composition.api import ApiDependencies
from ferryman.domain.approvals.request import encode_arguments, find_standing_problems
from ferryman.domain.approvals.standing import STANDING_PER_WORKSPACE_MAX, StandingApproval, encode_standing
from ferryman.domain.copies import replace
from ferryman.domain.executions.execution import OWNER
from ferryman.domain.ids import is_id
from ferryman.domain.problem import InvalidInputError, build_input_error
from ferryman.ports.approvals import TooManyStandingError
from ferryman.serving.api.access import Approver, Dependencies, Reader
from ferryman.serving.api.deciding import refuse_halted
from ferryman.serving.api.errors import ConflictError, NotFoundError
from ferryman.serving.api.idempotency import Idempotency, IdempotentRoute
from ferryman.serving.api.paging import ByName, cut_by_name
from ferryman.serving.api.rights import Caller
from ferryman.serving.api.shapes import approval as shapes

router = APIRouter(route_class=IdempotentRoute, prefix="/v1/standing-approvals", tags=["approvals"])


@router.post("", status_code=201, summary="Approve calls of a tool beforehand, for a time and a number of calls")
async def create_standing_approval(
    body: shapes.NewStandingApproval, deps: Dependencies, caller: Approver, once: Idempotency, response: Response
) -> shapes.StandingApprovalResponse:
    now = once.now
    standing = StandingApproval(
        id=once.name("stand"),
        owner=caller.owner.id,
        workspace=caller.workspace,
        task=body.task_id or "",
        tool=body.tool,
        hosts=body.hosts,
        methods=body.methods,
        uses_max=body.uses,
        by=caller.person or OWNER,
        created_at=now,
        expires_at=now,
    )
    if problems := list(find_standing_problems(standing, body.arguments, days=body.expires_in_days)):
        raise InvalidInputError(problems)
    await _check_task(deps, caller, body.task_id)
    fingerprint = await _find_fingerprint(deps, body)
    await refuse_halted(deps, caller)
    key = await deps.decision_signing.key()
    whole = replace(
        standing,
        fingerprint=fingerprint,
        arguments=encode_arguments(body.arguments),
        expires_at=now + timedelta(days=body.expires_in_days),
        key=key.version,
    )
    signed = replace(whole, signature=key.sign(encode_standing(whole)).hex())
    try:
        await deps.approvals.add_standing(signed, most=STANDING_PER_WORKSPACE_MAX)
    except TooManyStandingError:
        most = STANDING_PER_WORKSPACE_MAX
        raise ConflictError(f"the workspace has {most} standing approvals, as many as it may have; revoke one") from None
    response.headers["Location"] = f"/v1/standing-approvals/{signed.id}"
    return shapes.to_standing(signed)


@router.get("", summary="What is approved beforehand in the workspace")
async def list_standing_approvals(deps: Dependencies, caller: Reader, paging: ByName) -> shapes.StandingApprovalList:
    stored = await deps.approvals.list_standing(caller.workspace)
    here, following = cut_by_name(stored, paging, lambda standing: standing.id)
    return shapes.StandingApprovalList(standing_approvals=tuple(map(shapes.to_standing, here)), next=following)


@router.delete("/{standing_approval_id}", status_code=204, summary="Revoke a standing approval: nothing more is sent under it")
async def delete_standing_approval(standing_approval_id: str, deps: Dependencies, caller: Approver) -> None:
    known = is_id(standing_approval_id)
    if not known or await deps.approvals.revoke_standing(caller.workspace, standing_approval_id) is None:
        raise NotFoundError("standing approval")


async def _find_fingerprint(deps: ApiDependencies, body: shapes.NewStandingApproval) -> str:
    """Return the fingerprint of the declared tool that is approved, "" of a built-in one."""
    if body.tool in TOOLS:
        return ""
    if body.task_id is None:
        raise build_input_error("task_id", "must be the task that has declared the tool: it is approved as it is declared now")
    declared = await deps.clusters.find(body.task_id, body.tool)
    if declared is None:
        raise build_input_error("tool", "must be a built-in tool, or one that the task has declared")
    return declared.fingerprint


async def _check_task(deps: ApiDependencies, caller: Caller, name: str | None) -> None:
    task = await deps.tasks.get(name) if name is not None and is_id(name) else None
    if name is not None and (task is None or not caller.sees(task)):
        raise build_input_error("task_id", "must be the id of a task in this workspace; null for all of them")
