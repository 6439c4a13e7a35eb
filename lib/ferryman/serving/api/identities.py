"""Identities over HTTP: a person links one by presenting an API key and an access token together; nothing goes by e-mail."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.responses import Response

from ferryman.domain.problem import build_input_error
from ferryman.domain.workspaces.api_key import NARROWED_RIGHTS, ApiKey
from ferryman.domain.workspaces.identity import InvalidAccessTokenError
from ferryman.domain.workspaces.member import Right
from ferryman.serving.api.access import ASKS, CurrentCaller, Dependencies
from ferryman.serving.api.errors import ConflictError, NotFoundError
from ferryman.serving.api.idempotency import Idempotency, IdempotentRoute
from ferryman.serving.api.paging import ByName, cut_by_name
from ferryman.serving.api.rights import check_whole
from ferryman.serving.api.shapes import identity as shapes

router = APIRouter(route_class=IdempotentRoute, prefix="/v1/identities", tags=["people"])

LINK_NAME = "identity"


@router.post("", dependencies=[ASKS], status_code=201, summary="Link an identity of the authorization server with you")
async def link_identity(
    body: shapes.NewIdentity, deps: Dependencies, caller: CurrentCaller, once: Idempotency, response: Response
) -> shapes.IdentityResponse:
    if deps.access_tokens is None:
        raise HTTPException(409, "no authorization server is named here: FERRYMAN_OAUTH_ISSUER and FERRYMAN_OAUTH_RESOURCE")
    # an identity acts for the person: a key that was made for less links none
    check_whole(caller)
    try:
        token = await deps.access_tokens.verify(body.access_token.get_secret_value())
    except InvalidAccessTokenError as error:
        raise build_input_error("access_token", f"must be a valid access token for this server: {error}") from None
    link = ApiKey(
        id=once.name("identity"),
        owner=caller.owner.id,
        person=caller.person,
        workspace=caller.workspace,
        name=LINK_NAME,
        # what of it counts is decided by the membership, at each moment
        scopes=tuple(right for right in caller.key.scopes if right in NARROWED_RIGHTS),
        issuer=token.issuer,
        subject=token.subject,
        created_at=once.now,
        expires_at=caller.key.expires_at,
    )
    known = await deps.keys.find(token.digest)
    if known is not None and known != link:
        if (known.owner, known.workspace, known.person) != (link.owner, link.workspace, link.person):
            raise ConflictError("this identity is linked already, elsewhere or with somebody else: delete that link first")
        response.status_code = 200
        return shapes.IdentityResponse.model_validate(known)
    answer, location = shapes.IdentityResponse.model_validate(link), f"/v1/identities/{link.id}"
    await deps.keys.create(token.digest, link, done=await once.complete(201, answer, location=location))
    response.headers["Location"] = location
    return answer


@router.get("", dependencies=[ASKS], summary="The identities that are linked with you in this workspace")
async def list_identities(deps: Dependencies, caller: CurrentCaller, paging: ByName) -> shapes.IdentityList:
    stored = await deps.keys.list(caller.owner.id, caller.workspace, person=caller.person)
    here, following = cut_by_name([key for key in stored if key.issuer], paging, lambda key: key.id)
    return shapes.IdentityList(identities=tuple(map(shapes.IdentityResponse.model_validate, here)), next=following)


@router.delete(
    "/{identity_id}", dependencies=[ASKS], status_code=204, summary="End the link of an identity: its next request is refused"
)
async def delete_identity(identity_id: str, deps: Dependencies, caller: CurrentCaller) -> None:
    check_whole(caller)
    person = None if Right.MANAGE in caller.rights else caller.person
    stored = await deps.keys.list(caller.owner.id, caller.workspace, person=person)
    is_link = any(key.id == identity_id and key.issuer for key in stored)
    if not is_link or not await deps.keys.revoke(identity_id, owner=caller.owner.id, workspace=caller.workspace, person=person):
        raise NotFoundError("identity")
