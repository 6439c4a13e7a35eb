"""API keys over HTTP: everybody has their own; who manages the workspace sees and revokes those of others too."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from ferryman.domain.problem import InvalidInputError, Problem
from ferryman.domain.workspaces.api_key import KEY_NAME_CHARACTERS_MAX, NARROWED_RIGHTS, ApiKey
from ferryman.domain.workspaces.member import Right
from ferryman.domain.workspaces.tool_scopes import find_tool_scope_problems
from ferryman.serving import keys
from ferryman.serving.api.access import ASKS, CurrentCaller, Dependencies
from ferryman.serving.api.errors import NotFoundError
from ferryman.serving.api.idempotency import Idempotency, IdempotentRoute
from ferryman.serving.api.paging import ByName, cut_by_name
from ferryman.serving.api.rights import check_given, check_right, check_whole
from ferryman.serving.api.shapes import people as shapes

router = APIRouter(route_class=IdempotentRoute, prefix="/v1/keys", tags=["people"])


@router.post("", dependencies=[ASKS], status_code=201, summary="Make an API key of your own, for this workspace")
async def create_key(
    body: shapes.NewKey, deps: Dependencies, caller: CurrentCaller, once: Idempotency, response: Response
) -> shapes.NewKeyResponse:
    if not body.name.strip() or len(body.name) > KEY_NAME_CHARACTERS_MAX or not body.name.isprintable():
        message = f"must be 1 to {KEY_NAME_CHARACTERS_MAX} printable characters, and not only spaces"
        raise InvalidInputError([Problem(field="name", message=message)])
    check_tools(body)
    most = caller.rights if body.tools is None else caller.rights & NARROWED_RIGHTS
    scopes = most if body.scopes is None else frozenset(body.scopes)
    if not scopes:
        raise InvalidInputError([Problem(field="scopes", message=f"must name one of {', '.join(Right)} at least")])
    check_given(scopes, caller)
    text, now = keys.generate_key(), once.now
    ends = [caller.key.expires_at] if caller.key.expires_at is not None else []
    ends += [now + timedelta(days=body.expires_in_days)] if body.expires_in_days is not None else []
    key = ApiKey(
        id=once.name("key"),
        owner=caller.owner.id,
        person=caller.person,
        workspace=caller.workspace,
        name=body.name,
        scopes=tuple(right for right in Right if right in scopes),
        tools=body.tools,
        created_at=now,
        expires_at=min(ends, default=None),
    )
    known, location = shapes.KeyResponse.model_validate(key).model_dump(by_alias=False), f"/v1/keys/{key.id}"
    # what is kept for a retry has no key: it is shown once
    done = await once.complete(201, shapes.NewKeyResponse.model_construct(**known, key=None), location=location)
    await deps.keys.create(keys.digest_key(text), key, done=done)
    response.headers["Location"] = location
    response.headers["Cache-Control"] = "no-store"
    return shapes.NewKeyResponse.model_construct(**known, key=text)


def check_tools(body: shapes.NewKey) -> None:
    """Raise 422 for tools that are none, and for scopes that no key that is narrowed to tools may have."""
    if body.tools is None:
        return
    problems = list(find_tool_scope_problems("tools", body.tools))
    problems += [
        Problem(field=f"scopes.{index}", message="must be read or run: a key that is narrowed to tools has no other scope")
        for index, right in enumerate(body.scopes or ())
        if right not in NARROWED_RIGHTS
    ]
    if problems:
        raise InvalidInputError(problems)


@router.get("", dependencies=[ASKS], summary="Your API keys for this workspace, or those of everybody")
async def list_keys(
    deps: Dependencies,
    caller: CurrentCaller,
    paging: ByName,
    everybody: Annotated[bool, Query(description="Those of everybody, which needs the right manage")] = False,
) -> shapes.KeyList:
    if everybody:
        check_right(Right.MANAGE, caller)
    person = None if everybody else caller.person
    stored = await deps.keys.list(caller.owner.id, caller.workspace, person=person)
    stored = [key for key in stored if not key.issuer]  # the others are identities
    here, following = cut_by_name(stored, paging, lambda key: key.id)
    return shapes.KeyList(keys=tuple(map(shapes.KeyResponse.model_validate, here)), next=following)


@router.delete("/{key_id}", dependencies=[ASKS], status_code=204, summary="Revoke an API key: the next request is refused")
async def delete_key(key_id: str, deps: Dependencies, caller: CurrentCaller) -> None:
    if key_id != caller.key.id:
        check_whole(caller)
    person = None if Right.MANAGE in caller.rights else caller.person
    if not await deps.keys.revoke(key_id, owner=caller.owner.id, workspace=caller.workspace, person=person):
        raise NotFoundError("API key")
