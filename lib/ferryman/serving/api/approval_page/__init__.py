"""The approval page, for browsers: a person who is signed in reads what a call would send, and decides.

The link to it gives no right: who is not signed in sees the same page whether there is such an approval or not. A decision is
made by a form with a CSRF token, by the code that decides for the API, with the rights that the API key has at that moment.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from ferryman.composition.api import ApiDependencies
from ferryman.domain.approvals.approval import Approval, ApprovalState
from ferryman.domain.approvals.decision import DecisionVerdict
from ferryman.domain.ids import is_id
from ferryman.domain.problem import InvalidInputError
from ferryman.domain.workspaces.api_key import ApiKey
from ferryman.domain.workspaces.member import Right
from ferryman.domain.workspaces.workspace import WorkspaceClosedError
from ferryman.ports.errors import UnavailableError
from ferryman.ports.keys import KeyPurpose
from ferryman.serving import keys
from ferryman.serving.api.access import authenticate_key
from ferryman.serving.api.approval_page import markup
from ferryman.serving.api.approval_page.form import read_form, read_number, refuse_foreign
from ferryman.serving.api.approval_page.questions import read_answers
from ferryman.serving.api.approval_page.session import LIFETIME, PageSession, read_cookie, write_cookie
from ferryman.serving.api.auditing import note_use, record_action
from ferryman.serving.api.deciding import decide_checked
from ferryman.serving.api.limits import OWNER_REQUESTS_MAX, REQUEST_S, REQUESTS_MAX, take_turn
from ferryman.serving.api.rights import Caller, RouteNeed, check_needs
from ferryman.serving.api.shapes.approval import NewDecision

COOKIE = "__Host-ferryman"
"""Browsers take a cookie of this prefix from this host alone, over TLS, for all of its paths."""

LOCAL_COOKIE = "ferryman"
UNKNOWN = "There is no such approval, or it is not in a workspace of this API key."
INVALID_KEY = "This is no API key that is valid."
VERDICTS = (DecisionVerdict.APPROVE, DecisionVerdict.DENY, DecisionVerdict.ANSWER)


class _SignInError(Exception):
    """Nobody is signed in; the text says why, "" where nobody was."""


async def answer(request: Request) -> Response:
    """Answer a request for the page of one approval."""
    deps: ApiDependencies = request.app.state.deps
    try:
        return await (_answer_form if request.method == "POST" else _answer_page)(deps, request)
    except _SignInError as error:
        response = _respond(markup.write_sign_in(str(error)), 403 if request.method == "POST" else 200)
        if _get_cookie(deps, request):
            response.delete_cookie(**_describe_cookie(deps))
        return response
    except HTTPException as error:
        return _respond(markup.write_message("Nothing was done", error.detail), error.status_code, dict(error.headers or {}))
    except InvalidInputError as error:
        text = "; ".join(f"{problem.field}: {problem.message}" for problem in error.problems)
        return _respond(markup.write_message("Nothing was decided", text), 422)
    except WorkspaceClosedError as error:
        return _respond(markup.write_message("Nothing was decided", str(error)), 409)
    except UnavailableError:
        text = "A service behind this one does not answer; try again."
        return _respond(markup.write_message("Try again", text), 503, {"Retry-After": "1"})


async def _answer_page(deps: ApiDependencies, request: Request) -> Response:
    session = await _read_session(deps, request)
    async with _take_turns(deps, session.digest) as key:
        caller, approval = await _find(deps, session, key, request.path_params["approval_id"])
        return await _show(deps, session, caller, approval)


async def _answer_form(deps: ApiDependencies, request: Request) -> Response:
    refuse_foreign(request)
    form = read_form(await request.body())
    action = form.get("do", "")
    if action == "sign-in":
        return await _sign_in(deps, request, form.get("key", ""))
    if action == "sign-out":
        raise _SignInError("You are signed out.")
    if action not in VERDICTS:
        raise HTTPException(422, "do: must be sign-in, sign-out, approve, deny or answer")
    session = await _read_session(deps, request)
    async with _take_turns(deps, session.digest) as key:
        caller, approval = await _find(deps, session, key, request.path_params["approval_id"])
        digest = form.get("digest", "")
        if not session.accepts_form_token(form.get("token", ""), approval.id, digest):
            raise HTTPException(403, "the form is not one of this page in this session; open the page again")
        check_needs([RouteNeed.APPROVE], caller)
        verdict = DecisionVerdict(action)
        # the field is there for both buttons
        sends = read_number(form.get("sends", "1")) if verdict is DecisionVerdict.APPROVE else 1
        answers = read_answers(approval.form, form) if verdict is DecisionVerdict.ANSWER else None
        body = NewDecision(verdict=verdict, digest=digest, sends=sends, reason=form.get("reason", ""), arguments=answers)
        async with record_action(deps, request, Response(), caller, "decideApproval"):
            await decide_checked(deps, caller, approval, body)
    return _redirect(approval.id)


async def _sign_in(deps: ApiDependencies, request: Request, key: str) -> Response:
    text = keys.parse_key(f"Bearer {key.strip()}")
    if text is None:
        raise _SignInError(INVALID_KEY)
    digest = keys.digest_key(text)
    async with _take_turns(deps, digest) as stored:
        if stored is None:
            raise _SignInError(INVALID_KEY)
    approval_id = request.path_params["approval_id"]
    if not is_id(approval_id):
        raise HTTPException(404, UNKNOWN)
    response = _redirect(approval_id)
    signing = await deps.purpose_keys.list(KeyPurpose.SESSIONS)
    cookie = write_cookie(signing, digest, now=deps.clock.now())
    response.set_cookie(value=cookie, max_age=int(LIFETIME.total_seconds()), **_describe_cookie(deps))
    return response


async def _read_session(deps: ApiDependencies, request: Request) -> PageSession:
    cookie = _get_cookie(deps, request)
    if not cookie:
        raise _SignInError("")
    signing = await deps.purpose_keys.list(KeyPurpose.SESSIONS)
    session = read_cookie(signing, cookie, now=deps.clock.now())
    if session is None:
        raise _SignInError("Your session is over: sign in again.")
    return session


async def _find(deps: ApiDependencies, session: PageSession, key: ApiKey | None, name: str) -> tuple[Caller, Approval]:
    """Return who is signed in, in the workspace of the approval. Raise 404 where they may not know of it."""
    if key is None:
        raise _SignInError("Your API key was revoked, or has expired: sign in with another one.")
    approval = await deps.approvals.get(name) if is_id(name) else None
    try:
        caller = await authenticate_key(deps, session.digest, key, None if approval is None else approval.workspace)
    except HTTPException as error:
        if error.status_code == 401:
            raise _SignInError("Your API key is not valid any more: sign in with another one.") from None
        raise HTTPException(404, UNKNOWN) from None
    if approval is None or not caller.sees(approval):
        raise HTTPException(404, UNKNOWN)
    check_needs([RouteNeed.READ], caller)
    note_use(deps, caller)
    return caller, approval


async def _show(deps: ApiDependencies, session: PageSession, caller: Caller, approval: Approval) -> Response:
    before = await deps.approvals.get(approval.before) if approval.before else None
    view = markup.ShownApproval(
        approval=approval,
        notice=_find_notice(deps, caller, approval),
        before=before.form if before is not None and caller.sees(before) else None,
        token=session.write_form_token(approval.id, approval.digest),
    )
    return _respond(markup.write_approval(view))


def _find_notice(deps: ApiDependencies, caller: Caller, approval: Approval) -> str:
    if approval.state is not ApprovalState.PENDING:
        return f"This was decided already, or the call waits no longer: it is {approval.state}."
    if deps.clock.now() >= approval.expires_at:
        return "The time in which this call could be decided about is over."
    if Right.APPROVE not in caller.rights:
        return "You can read this, and not decide: your API key or your membership lacks the right to approve."
    return ""


@asynccontextmanager
async def _take_turns(deps: ApiDependencies, digest: str) -> AsyncIterator[ApiKey | None]:
    """Hold the turns that a request with the API key of this `digest` has, and yield the key, None where it is not valid."""
    async with take_turn(deps.requests_of, digest, most=REQUESTS_MAX, within_s=REQUEST_S, what="requests"):
        key = await deps.keys.find(digest)
        if key is None or key.is_expired(deps.clock.now()):
            yield None
            return
        async with take_turn(deps.requests_of_owner, key.owner, most=OWNER_REQUESTS_MAX, within_s=REQUEST_S, what="requests"):
            yield key


def _redirect(approval_id: str) -> Response:
    # relative, and an id: it leads nowhere but here, whatever is in front of this function
    return Response(status_code=303, headers={"Location": approval_id, **markup.HEADERS})


def _respond(page: str, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return HTMLResponse(page, status_code=status, headers={**markup.HEADERS, **(headers or {})})


def _get_cookie(deps: ApiDependencies, request: Request) -> str:
    return request.cookies.get(LOCAL_COOKIE if deps.is_local else COOKIE, "")


def _describe_cookie(deps: ApiDependencies) -> dict[str, Any]:
    return {
        "key": LOCAL_COOKIE if deps.is_local else COOKIE,
        "httponly": True,
        "samesite": "strict",
        "secure": not deps.is_local,
        "path": "/",
    }
