"""The one entry of every function: what functions-framework serves, and the checks that each internal call passes first."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from functions_framework import aio
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse

from ferryman import settings
from ferryman.gcp.log import JsonLog, capture_loggers
from ferryman.ports.errors import UnavailableError
from ferryman.serving.faults import describe_fault
from ferryman.serving.framework import lead_everything
from ferryman.serving.lazy_root import LazyRoot, Root
from ferryman.serving.problems import create_problem
from ferryman.settings import WARM_PATH, Settings

if TYPE_CHECKING:
    from ferryman.ports.owners import CallerIdentifier

BODY_BYTES_MAX = 8 * 1024 * 1024
"""An internal call's body: ids, or one turn of the model."""

Handler = Callable[[Request], Awaitable[Any]]
HEALTH_PATH = "/healthz"


def serve(
    build: Callable[[Settings], Root],
    answer: Callable[[Root, Request], Awaitable[Any]],
    allow: Callable[[Settings, str], tuple[str, ...]] | None = None,
    find: Callable[[Root], Any] = lambda root: root,
    *,
    identity: str = "authorization",
) -> Handler:
    """Return a function's `main`: it builds the dependencies once it serves, checks the caller, and answers.

    `build` imports what it needs itself, so that a process serves before: functions-framework imports this before it forks, and
    a stranger without a token, or the platform that asks for the API's health, waits for none of it. `allow` names the accounts
    that may call a path; without it, `answer` checks callers itself, and GET /healthz is answered. `HTTPException` is answered
    with its status, `UnavailableError` with 503, any other exception with 500, and only its type and place are logged. On a
    local stack, what a web page could send is refused first; in the cloud only the service's own names lead here. `find`
    returns what has `callers` and `warm` of all that was built; POST /warm is there where settings name accounts for it.
    `identity` is the header with the identity token; to warm a function, it is in `Authorization` as ever.
    """
    known, log = settings.read(), JsonLog()
    if known.function:
        capture_loggers(known.log_level)  # in a function's own process, every library logs through our log alone
    lazy = LazyRoot(build, known)
    lead_everything(lazy.begin_soon)

    async def main(request: Request) -> Any:
        try:
            if known.local:
                refuse_pages(request)
            if allow is None and request.method == "GET" and request.url.path == HEALTH_PATH:
                return JSONResponse({"status": "ok"})
            is_warming = bool(known.warmers) and request.url.path == WARM_PATH
            if allow is not None and ("authorization" if is_warming else identity) not in request.headers:
                raise HTTPException(401, "no identity token")
            root: Any = await lazy.get()
            if is_warming:
                return await _warm(find(root), request, known)
            if allow is not None:
                await authenticate(request, root.callers, allow(known, request.url.path), known, header=identity)
            return await answer(root, request)
        except HTTPException as refused:
            return create_problem(refused.status_code, refused.detail)
        except UnavailableError as unavailable:
            return create_problem(503, str(unavailable))
        except Exception as fault:  # noqa: BLE001 - a traceback may hold what was sent
            log.line("function.fault", **describe_fault(fault), severity="ERROR")
            return create_problem(500, "something went wrong on our side")

    register: Any = aio.http  # its type does not know of ASGI applications as answers
    registered: Handler = register(main)  # functions-framework finds the function's kind by the name `main`
    return registered


def allow_callers(known: Settings, _: str) -> tuple[str, ...]:
    """Return the accounts that may call every path of the function."""
    return known.callers


def refuse_pages(request: Request) -> None:
    """Refuse requests of web pages: raise `HTTPException` with 421 for another host (DNS rebinding), 403 for another
    origin."""
    port = (request.scope.get("server") or ("", 0))[1]
    hosts = request.headers.getlist("host")
    if len(hosts) != 1 or hosts[0] not in (f"127.0.0.1:{port}", f"localhost:{port}"):
        raise HTTPException(421, "nothing is served under this name here")
    if any(origin != f"http://{hosts[0]}" for origin in request.headers.getlist("origin")):
        raise HTTPException(403, "the local stack is not for pages of other origins")


async def _warm(process: Any, request: Request, known: Settings) -> JSONResponse:
    await authenticate(request, process.callers, known.warmers, known)
    if request.method != "POST":
        raise HTTPException(405, "only POST is served here")
    await process.warm()
    return JSONResponse({"warm": True})


async def authenticate(
    request: Request, callers: CallerIdentifier, allowed: tuple[str, ...], known: Settings, *, header: str = "authorization"
) -> None:
    """Check the caller's identity token. Raise `HTTPException`, 401 no valid token or 403 not in `allowed`, or
    `UnavailableError`."""
    audience = known.function_urls.get(known.function, "")
    try:
        email = await callers.identify(request.headers.get(header), audience=audience)
    except PermissionError as error:
        raise HTTPException(401, str(error)) from None
    if email not in allowed:
        raise HTTPException(403, "this caller may not call this function")


async def read_body(request: Request, **fields: type) -> dict[str, Any]:
    """Return the JSON object that was posted. Raise `HTTPException` with 4xx unless it holds exactly `fields` of these
    types."""
    if request.method != "POST":
        raise HTTPException(405, "only POST is served here")
    received = bytearray()
    async for chunk in request.stream():
        received += chunk
        if len(received) > BODY_BYTES_MAX:
            raise HTTPException(413, f"the body is larger than {BODY_BYTES_MAX} bytes")
    try:
        body = json.loads(received)
    except (ValueError, RecursionError):
        raise HTTPException(400, "the body is not JSON") from None
    if not isinstance(body, dict) or set(body) != set(fields):
        raise HTTPException(400, f"the body must be an object with exactly {', '.join(sorted(fields))}")
    for name, kind in fields.items():
        if type(body[name]) is not kind:
            raise HTTPException(400, f"{name} must be of type {kind.__name__}")
    return body
