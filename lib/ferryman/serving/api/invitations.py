"""Invitations over HTTP: made and withdrawn by who manages the workspace. Who has the token takes it (joining.py)."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from ferryman.domain.problem import InvalidInputError
from ferryman.domain.workspaces.member import list_rights
from ferryman.domain.workspaces.person import INVITATION_LIFETIME, Invitation, find_person_name_problems
from ferryman.serving import keys
from ferryman.serving.api.access import MANAGES, READS, CurrentCaller, Dependencies
from ferryman.serving.api.errors import NotFoundError
from ferryman.serving.api.idempotency import Idempotency, IdempotentRoute
from ferryman.serving.api.paging import ByName, cut_by_name
from ferryman.serving.api.rights import check_given
from ferryman.serving.api.shapes import people as shapes

router = APIRouter(route_class=IdempotentRoute, prefix="/v1/invitations", tags=["people"])


@router.post("", dependencies=[MANAGES], status_code=201, summary="Invite somebody into the workspace")
async def create_invitation(
    body: shapes.NewInvitation, deps: Dependencies, caller: CurrentCaller, once: Idempotency, response: Response
) -> shapes.NewInvitationResponse:
    problems = find_person_name_problems(body.name)
    if problems:
        raise InvalidInputError(problems)
    check_given(list_rights(body.role, body.approves), caller)
    token, now = keys.generate_token(), once.now
    invitation = Invitation(
        id=once.name("inv"),
        owner=caller.owner.id,
        workspace=caller.workspace,
        name=body.name,
        role=body.role,
        approves=body.approves,
        invited_by=caller.person,
        created_at=now,
        expires_at=now + INVITATION_LIFETIME,
    )
    known = shapes.InvitationResponse.model_validate(invitation).model_dump(by_alias=False)
    location = f"/v1/invitations/{invitation.id}"
    # what is kept for a retry has no token: it is shown once
    for_retry = shapes.NewInvitationResponse.model_construct(**known, token=None)
    done = await once.complete(201, for_retry, location=location)
    await deps.invitations.create(keys.digest_key(token), invitation, now=now, done=done)
    response.headers["Location"] = location
    return shapes.NewInvitationResponse.model_construct(**known, token=token)


@router.get("", dependencies=[READS], summary="The invitations to the workspace that nobody has taken yet")
async def list_invitations(deps: Dependencies, caller: CurrentCaller, paging: ByName) -> shapes.InvitationList:
    stored = await deps.invitations.list(caller.owner.id, caller.workspace, now=deps.clock.now())
    here, following = cut_by_name(stored, paging, lambda invitation: invitation.id)
    return shapes.InvitationList(invitations=tuple(map(shapes.InvitationResponse.model_validate, here)), next=following)


@router.delete("/{invitation_id}", dependencies=[MANAGES], status_code=204, summary="Withdraw an invitation")
async def delete_invitation(invitation_id: str, deps: Dependencies, caller: CurrentCaller) -> None:
    if not await deps.invitations.withdraw(invitation_id, owner=caller.owner.id, workspace=caller.workspace):
        raise NotFoundError("invitation")
