"""Signing in, with an API key or a one-time link, for a session that is stored, listed and revocable; and signing out.

The API key itself is kept nowhere: a session names its digest, and whatever it may is asked of that key with each request.
"""

from __future__ import annotations

from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from ferryman.composition.api import ApiDependencies
from ferryman.domain.console_sessions.session import LIFETIME, ConsoleSession, build_session
from ferryman.domain.stale import StaleError
from ferryman.domain.workspaces.api_key import ApiKey
from ferryman.ports.keys import KeyPurpose
from ferryman.serving import keys
from ferryman.serving.api.limits import REQUEST_S, REQUESTS_MAX, take_turn
from ferryman.serving.console import cookies
from ferryman.serving.console.forms import is_foreign, read_form, refuse_foreign
from ferryman.serving.console.rendering import render_plain
from ferryman.serving.console.routing import ROOT, check_next, find_relative
from ferryman.serving.console.security_headers import HEADERS

PATH, ENTER_PATH = f"{ROOT}/sign-in", f"{ROOT}/enter"
INVALID_KEY = "This API key is not valid."
INVALID_LINK = "This link was used already, or has expired. Create another one: ferryman console"
FORM_BYTES_MAX = 4_000


async def answer_sign_in(deps: ApiDependencies, request: Request) -> Response:
    """Show the form that takes an API key, or sign a person in with it."""
    if request.method != "POST":
        return show_sign_in(request, "", next_path=request.query_params.get("next", ROOT))
    refuse_foreign(request)
    form = read_form(await _read_body(request))
    text = keys.parse_key(f"Bearer {form.get('key', ('',))[0].strip()}")
    next_path = form.get("next", (ROOT,))[0]
    if text is None:
        return show_sign_in(request, INVALID_KEY, next_path=next_path, status=403)
    return await _begin(deps, request, keys.digest_key(text), next_path, INVALID_KEY)


async def answer_link(deps: ApiDependencies, request: Request) -> Response:
    """Show one button for a one-time link, or redeem it: a GET, such as a link preview, does not use it up."""
    if request.method != "POST":
        code = request.query_params.get("code", "")
        # a page of others may lead somebody into a session of its own (login CSRF): what is typed there would be theirs
        values = {"code": code if keys.is_secret(code) else "", "is_led": is_foreign(request)}
        return HTMLResponse(render_plain("enter.html", request.url.path, title="Open the console", **values), headers=HEADERS)
    refuse_foreign(request)
    code = read_form(await _read_body(request)).get("code", ("",))[0]
    link = None
    if keys.is_secret(code):
        link = await deps.console_sessions.take_link(keys.digest_key(code), now=deps.clock.now())
    if link is None:
        return show_sign_in(request, INVALID_LINK, next_path=ROOT, status=403)
    return await _begin(deps, request, link.key_digest, ROOT, INVALID_LINK)


def show_sign_in(request: Request, notice: str, *, next_path: str, status: int = 200) -> Response:
    """Return the page to sign in on, which then leads to `next_path`."""
    values = {"title": "Sign in", "notice": notice, "next_path": check_next(next_path)}
    return HTMLResponse(render_plain("sign_in.html", request.url.path, **values), status_code=status, headers=HEADERS)


async def find_session(deps: ApiDependencies, request: Request) -> tuple[ConsoleSession, cookies.SignedSession] | None:
    """Return the session that the cookie of a request names; None where there is none, or it is over or revoked."""
    cookie = request.cookies.get(name_cookie(deps), "")
    if not cookie:
        return None
    signed = cookies.read_cookie(await deps.purpose_keys.list(KeyPurpose.SESSIONS), cookie)
    session = None if signed is None else await deps.console_sessions.find(signed.id)
    if signed is None or session is None or session.is_expired(deps.clock.now()):
        return None
    return session, signed


async def end_session(deps: ApiDependencies, request: Request, session: ConsoleSession) -> Response:
    """Revoke the session, and have the browser forget its cookie."""
    await deps.console_sessions.revoke(session.id, owner=session.owner, workspace=session.key_workspace, person=session.person)
    response = redirect(request.url.path, f"{PATH}?done=signed-out")
    response.delete_cookie(**describe_cookie(deps))
    return response


def redirect(origin: str, target: str) -> Response:
    """Return the redirect (303) from the page `origin` to another page of the console."""
    return RedirectResponse(find_relative(origin, target), status_code=303, headers=HEADERS)


def name_cookie(deps: ApiDependencies) -> str:
    """Return the name of the session's cookie."""
    return cookies.LOCAL_NAME if deps.is_local else cookies.NAME


def describe_cookie(deps: ApiDependencies) -> dict[str, Any]:
    """Return how the cookie is stored: no script reads it, and no other site sends it."""
    return {"key": name_cookie(deps), "httponly": True, "samesite": "strict", "secure": not deps.is_local, "path": "/"}


async def _begin(deps: ApiDependencies, request: Request, digest: str, next_path: str, refusal: str) -> Response:
    key = await _find_key(deps, digest)
    if key is None:
        return show_sign_in(request, refusal, next_path=next_path, status=403)
    browser = request.headers.get("user-agent", "")
    session = build_session(deps.ids.new("session"), key, digest, browser=browser, now=deps.clock.now())
    try:
        await deps.console_sessions.create(session)
    except StaleError:
        return show_sign_in(request, refusal, next_path=next_path, status=403)
    response = redirect(request.url.path, check_next(next_path))
    cookie = cookies.write_cookie(await deps.purpose_keys.list(KeyPurpose.SESSIONS), session.id)
    response.set_cookie(value=cookie, max_age=int(LIFETIME.total_seconds()), **describe_cookie(deps))
    return response


async def _find_key(deps: ApiDependencies, digest: str) -> ApiKey | None:
    async with take_turn(deps.requests_of, digest, most=REQUESTS_MAX, within_s=REQUEST_S, what="requests"):
        key = await deps.keys.find(digest)
    return None if key is None or key.is_expired(deps.clock.now()) else key


async def _read_body(request: Request) -> bytes:
    body = await request.body()
    if len(body) > FORM_BYTES_MAX:
        raise HTTPException(413, f"the form is larger than {FORM_BYTES_MAX} bytes")
    return body
