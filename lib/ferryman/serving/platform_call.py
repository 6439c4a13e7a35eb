"""platform_call as a function: it signs calls of the platform's tools and sends them on, and lists these tools."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ferryman.domain.stale import StaleError
from ferryman.ports.errors import RejectedError
from ferryman.serving import entry
from ferryman.serving.entry import Handler, read_body
from ferryman.serving.problems import create_problem
from ferryman.settings import Settings

if TYPE_CHECKING:
    from ferryman.composition.platform_call import PlatformCallFunction

LIST_PATH = "/list"


def build_function(known: Settings) -> PlatformCallFunction:
    """Return what the function is made of."""
    from ferryman.composition.platform_call import PlatformCallFunction

    function = PlatformCallFunction(known)
    function.load()
    return function


def serve(build: Callable[[Settings], PlatformCallFunction] = build_function) -> Handler:
    """Return the function's `main`: POST / makes a call that is under way, POST /list lists the tools for an execution.

    Of what is posted, only which call it is counts: `execution`, `seq` and `epoch`. 200 with `content` and `code`, or with the
    tools; 409 where the call is not under way, 422 where the platform's list is none, 401 or 403 for the wrong caller, 503 to
    try again.
    """
    return entry.serve(build, _answer, entry.allow_callers)


async def _answer(function: PlatformCallFunction, request: Request) -> Response:
    routes = {"/": _call, LIST_PATH: _list}
    if request.url.path not in routes:
        return create_problem(404, "there is nothing here")
    try:
        with function.tracer.span(request.url.path, kind="server", parent=request.headers.get("traceparent", "")):
            return await routes[request.url.path](function, request)
    except StaleError as stale:
        return create_problem(409, str(stale))
    except RejectedError as rejected:
        return create_problem(422, str(rejected))
    finally:
        await function.tracer.flush()


async def _call(function: PlatformCallFunction, request: Request) -> Response:
    from ferryman.tools.platform.forwarding import forward_call, write_answer

    described: dict[str, type] = {"call": str, "tool": str, "arguments": dict, "user": str, "within_s": float}
    body = await read_body(request, execution=str, seq=int, epoch=int, **described)
    answer = await forward_call(
        function.forwarding, body["execution"], body["seq"], epoch=body["epoch"], within_s=body["within_s"]
    )
    return JSONResponse(write_answer(answer))


async def _list(function: PlatformCallFunction, request: Request) -> Response:
    from ferryman.tools.platform.forwarding import list_tools

    body = await read_body(request, execution=str, epoch=int)
    return JSONResponse(await list_tools(function.forwarding, body["execution"], epoch=body["epoch"]))
