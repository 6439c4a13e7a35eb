"""Joining over HTTP: who has the token of an invitation becomes a member. It is the one route that acts without an API key.

An answer may be lost, and the API key in it is stored nowhere. So who joins may send a secret of their own: the first key is
derived from the token and it, and the same request finds what it has made, and is answered with the same key again. That tells
nobody anything: who has both has the key. Somebody else with the same token has another secret, from which another key derives,
and the invitation is gone. A key that was revoked, or whose person has left, has no document: nothing is answered with it.

A key derived from the token alone would be that of everybody who ever reads the invitation, and an answer that is kept for a
retry would be a key in a store.
"""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from ferryman.composition.api import ApiDependencies
from ferryman.domain.problem import build_input_error
from ferryman.domain.workspaces.access import judge_key
from ferryman.domain.workspaces.person import AlreadyMemberError
from ferryman.serving import keys
from ferryman.serving.api.access import Dependencies, build_unauthorized_error
from ferryman.serving.api.errors import ConflictError, NotFoundError
from ferryman.serving.api.limits import REQUEST_S, REQUESTS_MAX, take_turn
from ferryman.serving.api.shapes import people as shapes
from ferryman.vault.first_key import derive_first_key

router = APIRouter(prefix="/v1", tags=["people"])


@router.post("/join", status_code=201, summary="Take an invitation: become a member, with an API key of your own")
async def join_workspace(
    body: shapes.TakenInvitation, request: Request, deps: Dependencies, response: Response
) -> shapes.JoinedResponse:
    token = body.token.get_secret_value()
    # strangers may ask: all of them together have the turns of one API key
    async with take_turn(deps.requests_of, "strangers", most=REQUESTS_MAX, within_s=REQUEST_S, what="invitations"):
        person = await _identify(deps, request.headers.get("authorization"))
        if not keys.is_token(token):
            raise NotFoundError("invitation")
        secret = None if body.secret is None else body.secret.get_secret_value()
        if secret is not None and not keys.is_secret(secret):
            raise build_input_error("secret", "must be 32 random bytes in base64url, which are 43 characters without padding")
        key = keys.generate_key() if secret is None else keys.write_key(derive_first_key(token, secret))
        try:
            joined = await deps.invitations.take(
                keys.digest_key(token),
                person=person or deps.ids.new("person"),
                is_new=person is None,
                key=deps.ids.new("key"),
                key_digest=keys.digest_key(key),
                now=deps.clock.now(),
            )
        except AlreadyMemberError:
            raise ConflictError("you are a member of this workspace already") from None
        if joined is None:
            raise NotFoundError("invitation")
        membership, stored = joined
    response.headers["Cache-Control"] = "no-store"
    return shapes.JoinedResponse(
        person_id=membership.person,
        workspace_id=membership.workspace,
        role=membership.role,
        approves=membership.approves,
        key_id=stored.id,
        key=key,
    )


async def _identify(deps: ApiDependencies, authorization: str | None) -> str | None:
    """Return the person who has an API key already, for another workspace of the same owner; None for anybody else, the owner
    too, who is no person. Raise 401 for a key that lets nobody in."""
    if not authorization:
        return None
    text = keys.parse_key(authorization)
    key = None if text is None else await deps.keys.find(keys.digest_key(text))
    if key is None:
        raise build_unauthorized_error()
    if not key.person:
        return None
    if judge_key(key, await deps.keys.read_access(key, key.workspace), now=deps.clock.now()) is None:
        raise build_unauthorized_error()
    return key.person
