"""Approvals over HTTP: the calls that wait for a person, exactly what each would send, and deciding about them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query

from ferryman.composition.api import ApiDependencies
from ferryman.domain.approvals.approval import Approval, ApprovalState
from ferryman.domain.ids import is_id
from ferryman.serving.api.access import ASKS, READS, Approver, CurrentCaller, Dependencies, Reader
from ferryman.serving.api.deciding import decide_checked
from ferryman.serving.api.errors import NotFoundError
from ferryman.serving.api.idempotency import IdempotentRoute
from ferryman.serving.api.paging import ByTime
from ferryman.serving.api.rights import Caller
from ferryman.serving.api.shapes import approval as shapes
from ferryman.serving.api.shapes import receipt

router = APIRouter(route_class=IdempotentRoute, prefix="/v1", tags=["approvals"])

InState = Annotated[ApprovalState | None, Query(description="Only those in this state")]
OfExecution = Annotated[str | None, Query(max_length=64, description="Only those of this execution")]


async def _approval(approval_id: str, deps: Dependencies, caller: CurrentCaller) -> Approval:
    approval = await _find(deps, caller, approval_id)
    if approval is None:
        raise NotFoundError("approval")
    return approval


OwnedApproval = Annotated[Approval, Depends(_approval)]


@router.get("/approvals", summary="The calls that wait, or waited, for a person, newest first")
async def list_approvals(
    deps: Dependencies,
    caller: Reader,
    paging: ByTime,
    state: InState = None,
    execution: OfExecution = None,
) -> shapes.ApprovalList:
    page = await deps.approvals.list(caller.workspace, state=state, execution=execution, after=paging.after, most=paging.limit)
    now = deps.clock.now()
    rows = tuple(shapes.to_listed(approval, now=now) for approval in page)
    return shapes.ApprovalList(approvals=rows, next=paging.write_next(page.end))


@router.get("/approvals/{approval_id}", dependencies=[READS], summary="One approval, with exactly what would be sent")
async def get_approval(approval: OwnedApproval, deps: Dependencies, caller: CurrentCaller) -> shapes.ApprovalResponse:
    return await _respond(deps, caller, approval)


@router.post(
    "/approvals/{approval_id}/decision",
    summary="Decide: approve what was shown, deny or edit it, or answer a server",
)
async def decide_approval(
    body: shapes.NewDecision, approval: OwnedApproval, deps: Dependencies, caller: Approver
) -> shapes.ApprovalResponse:
    return await _respond(deps, caller, await decide_checked(deps, caller, approval, body))


@router.get("/decision-keys", dependencies=[ASKS], summary="The public keys that decisions are verified with")
async def list_decision_keys(deps: Dependencies) -> receipt.ReceiptKeysResponse:
    return receipt.ReceiptKeysResponse(keys=receipt.to_public_keys(deps.decision_keys))


async def _respond(deps: ApiDependencies, caller: Caller, approval: Approval) -> shapes.ApprovalResponse:
    before = await _find(deps, caller, approval.before) if approval.before else None
    return shapes.to_response(approval, before, now=deps.clock.now())


async def _find(deps: ApiDependencies, caller: Caller, name: str) -> Approval | None:
    """Return the approval of this id in the caller's workspace, or None."""
    approval = await deps.approvals.get(name) if is_id(name) else None
    return approval if approval is not None and caller.sees(approval) else None
