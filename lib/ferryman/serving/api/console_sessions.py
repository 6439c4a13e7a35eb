"""Sessions of the console over HTTP, and the links that sign in: everybody has their own; who manages sees those of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from ferryman.composition.api import ApiDependencies
from ferryman.domain.console_sessions.link import build_link
from ferryman.domain.ids import is_id
from ferryman.domain.oauth_urls import CLIENT_DOCUMENT
from ferryman.domain.workspaces.member import Right
from ferryman.serving import keys
from ferryman.serving.api.access import ASKS, CurrentCaller, Dependencies
from ferryman.serving.api.errors import NotFoundError
from ferryman.serving.api.idempotency import Idempotency, IdempotentRoute
from ferryman.serving.api.paging import ByName, cut_by_name
from ferryman.serving.api.rights import Caller, check_right, check_whole
from ferryman.serving.api.shapes import console_sessions as shapes

router = APIRouter(route_class=IdempotentRoute, prefix="/v1", tags=["people"])
ENTRANCE = "/console/enter"
"""The path that a sign-in link leads to, below the URL of the API."""


@router.post(
    "/sign-in-links", dependencies=[ASKS], status_code=201, summary="Make a link that signs a browser in to the console, once"
)
async def create_sign_in_link(
    request: Request, deps: Dependencies, caller: CurrentCaller, once: Idempotency, response: Response
) -> shapes.NewSignInLink:
    code = keys.generate_code()
    link = build_link(keys.digest_key(code), caller.key, caller.digest, now=once.now)
    # what is kept for a retry has no code: it is shown once
    done = await once.complete(201, shapes.NewSignInLink(url=None, expires_at=link.expires_at))
    await deps.console_sessions.put_link(link, done=done)
    response.headers["Cache-Control"] = "no-store"
    return shapes.NewSignInLink(url=f"{_locate_api(deps, request)}{ENTRANCE}?code={code}", expires_at=link.expires_at)


@router.get("/sessions", dependencies=[ASKS], summary="Your sessions of the console, or those of everybody in the workspace")
async def list_sessions(
    deps: Dependencies,
    caller: CurrentCaller,
    paging: ByName,
    everybody: Annotated[bool, Query(description="Those of everybody, which needs the right manage")] = False,
) -> shapes.SessionList:
    if everybody:
        check_right(Right.MANAGE, caller)
    person, now = None if everybody else caller.person, deps.clock.now()
    stored = [
        session
        for workspace in _list_places(caller)
        for session in await deps.console_sessions.list(caller.owner.id, workspace, person=person, now=now)
    ]
    here, following = cut_by_name(stored, paging, lambda session: session.id)
    return shapes.SessionList(sessions=tuple(map(shapes.SessionResponse.model_validate, here)), next=following)


@router.delete(
    "/sessions/{session_id}", dependencies=[ASKS], status_code=204, summary="End a session of the console: it is signed out"
)
async def delete_session(session_id: str, deps: Dependencies, caller: CurrentCaller) -> None:
    session = await deps.console_sessions.find(session_id) if is_id(session_id) else None
    if session is None or session.digest != caller.digest:
        check_whole(caller)
    if session is not None:
        person = None if Right.MANAGE in caller.rights else caller.person
        for workspace in _list_places(caller):
            if await deps.console_sessions.revoke(session.id, owner=caller.owner.id, workspace=workspace, person=person):
                return
    raise NotFoundError("session")


def _list_places(caller: Caller) -> Sequence[str]:
    """Return the workspaces of the API keys whose sessions the request may know of: the owner's own key is of none ("")."""
    return ("", caller.workspace) if caller.key.is_own else (caller.workspace,)


def _locate_api(deps: ApiDependencies, request: Request) -> str:
    """Return the URL of this API: as the deployment knows it, or else as the request came to it."""
    scheme = "http" if deps.is_local else "https"
    return deps.client_document_url.removesuffix(CLIENT_DOCUMENT) or f"{scheme}://{request.headers.get('host', '')}"
