"""local_tools as a function: it runs one local function, and knows neither tickets nor tasks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING
from uuid import UUID

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ferryman.serving import entry
from ferryman.serving.entry import Handler, read_body
from ferryman.settings import Settings

if TYPE_CHECKING:
    from ferryman.composition.local_tools import LocalToolsFunction


def build_function(known: Settings) -> LocalToolsFunction:
    """Return what the function is made of."""
    from ferryman.composition.local_tools import LocalToolsFunction

    return LocalToolsFunction(known)


def serve(build: Callable[[Settings], LocalToolsFunction] = build_function) -> Handler:
    """Return the function's `main`: POST / runs a tool with its arguments, for a user.

    200 with `content` and the `code` of a failure or null, whatever the tool did; 400 for another body, 401 or 403 for the
    wrong caller.
    """
    return entry.serve(build, _answer, entry.allow_callers)


async def _answer(function: LocalToolsFunction, request: Request) -> Response:
    from ferryman.domain.calls.call import ToolCall
    from ferryman.tools.local_function.execute import answer

    body = await read_body(request, call=str, tool=str, arguments=dict, user=str)
    try:
        user = UUID(body["user"])
    except ValueError:
        raise HTTPException(400, "user must be a UUID") from None
    tool_call = ToolCall(id=body["call"], name=body["tool"], arguments=body["arguments"])
    try:
        with function.tracer.span(
            f"execute {tool_call.name}",
            {"gen_ai.tool.name": tool_call.name},
            kind="server",
            parent=request.headers.get("traceparent", ""),
        ):
            return JSONResponse(asdict(await answer(tool_call, user, None)))
    finally:
        await function.tracer.flush()
