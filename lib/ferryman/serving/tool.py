"""A tool as a function: it executes one journaled call at a time, and trusts nothing in the request but the id of the call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.conversations.window import WINDOW_CHARACTERS_MAX
from ferryman.domain.stale import StaleError
from ferryman.serving import entry
from ferryman.serving.entry import Handler, read_body
from ferryman.serving.problems import create_problem
from ferryman.settings import WORKER_PATH, Settings

if TYPE_CHECKING:
    from ferryman.composition.tool import ToolFunction

RESEAL = "/reseal"

Function = TypeVar("Function", bound="ToolFunction")
Route = Callable[[Function, Request], Awaitable[Response]]
"""What answers one path of a tool function."""


def serve(name: str) -> Handler:
    """Return the `main` of the tool `name`."""
    return serve_tool(name, build_function, {})


def build_function(known: Settings) -> ToolFunction:
    """Return what the function of a built-in tool is made of."""
    from ferryman.composition.tool import ToolFunction

    function = ToolFunction(known)
    function.load()
    return function


def serve_tool(
    name: str,
    build: Callable[[Settings], Function],
    more: Mapping[str, Route[Function]],
    *,
    for_callers: Mapping[str, Route[Function]] = MappingProxyType({}),
) -> Handler:
    """Return the `main` of the tool `name`: POST / executes a call, POST /scan scans the model's output, POST /window what it
    is still writing, POST /reseal seals a task's credentials to another version of the key, for the accounts that rotate keys
    alone; POST /warm/worker starts what reads long texts, for who starts a local stack alone. `more` are further paths, for
    the API's account alone, and `for_callers` further ones for who may execute calls.

    200 with the call's settlement; 409 where the lease, the ticket or the task does not allow it; 422 when a credential does
    not open for a scan; 401 or 403 for the wrong caller; 503 to try again.
    """
    execute = partial(_execute, name)
    routes: dict[str, Route[Function]] = {
        **more,
        **for_callers,
        "/scan": _scan,
        "/window": _scan_window,
        RESEAL: _reseal,
        WORKER_PATH: _warm_worker,
        "/": execute,
    }

    def allow(known: Settings, path: str) -> tuple[str, ...]:
        special = {RESEAL: known.resealers, WORKER_PATH: known.warmers, **dict.fromkeys(more, known.connectors)}
        return special.get(path, known.callers)

    async def answer(function: Function, request: Request) -> Response:
        path = request.url.path
        try:
            if path not in routes:
                return create_problem(404, "there is nothing here")
            if path in more or path in for_callers:
                with function.dependencies.tracer.span(path[1:], kind="server", parent=_read_parent(request)):
                    return await routes[path](function, request)
            return await routes[path](function, request)
        except CallRefusedError as refused:
            return create_problem(422, refused.refusal.message)
        except StaleError as stale:
            return create_problem(409, str(stale))
        finally:
            await function.dependencies.tracer.flush()

    return entry.serve(build, answer, allow)


async def _execute(name: str, function: ToolFunction, request: Request) -> Response:
    from ferryman.domain.receipts import settlement
    from ferryman.ports.tickets import CallRequest
    from ferryman.tools.execute_call import execute_call

    deps = function.dependencies
    body = await read_body(request, execution=str, call=int, epoch=int, task=str, owner=str)
    with deps.tracer.span(f"execute {name}", {"gen_ai.tool.name": name}, kind="server", parent=_read_parent(request)):
        ticket = await execute_call(deps, name, CallRequest(seq=body.pop("call"), **body))
    return JSONResponse(settlement.write_settlement(ticket))


async def _scan(function: ToolFunction, request: Request) -> Response:
    from ferryman.tools.execute_call import scan_output

    deps = function.dependencies
    body = await read_body(request, execution=str, task=str, epoch=int, content=list)
    with deps.tracer.span("scan", kind="server", parent=_read_parent(request)):
        return JSONResponse({"content": await scan_output(deps, **body)})


async def _scan_window(function: ToolFunction, request: Request) -> Response:
    from ferryman.tools.execute_call import scan_window

    deps = function.dependencies
    body = await read_body(request, execution=str, task=str, epoch=int, texts=list)
    texts = body["texts"]
    if not all(isinstance(text, str) for text in texts) or sum(map(len, texts)) > WINDOW_CHARACTERS_MAX:
        return create_problem(400, f"texts must be texts of at most {WINDOW_CHARACTERS_MAX:,} characters together")
    with deps.tracer.span("scan window", kind="server", parent=_read_parent(request)):
        parts = await scan_window(deps, **body)
    return JSONResponse({"parts": [[part.text, part.decided] for part in parts]})


async def _reseal(function: ToolFunction, request: Request) -> Response:
    from ferryman.tools.reseal import reseal_task

    body = await read_body(request, task=str, version=int)
    return JSONResponse({"unreadable": await reseal_task(function.dependencies, **body)})


async def _warm_worker(function: ToolFunction, request: Request) -> Response:
    await read_body(request)
    await function.warm_worker()
    return JSONResponse({"warm": True})


def _read_parent(request: Request) -> str:
    return request.headers.get("traceparent", "")
