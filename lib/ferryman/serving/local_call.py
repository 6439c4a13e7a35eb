"""A call of a local function as a request: who it is for, and the answer, whatever the tool does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Protocol
from uuid import UUID

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse

from ferryman.ports.log import Tracer
from ferryman.serving.entry import read_body


class Function(Protocol):
    """What a function of local tools is made of."""

    @property
    def tracer(self) -> Tracer: ...


async def answer_call(
    function: Function, request: Request, *, begin: Callable[[str], Any], end: Callable[[Any, bool], dict[str, Any]]
) -> JSONResponse:
    """Execute the call that was posted; answer 200 with its `content`, the `code` of a failure or null, and what `end` adds.

    `begin` takes the user and returns the tool's `db`; `end` takes that `db` and whether the call failed. Raise `HTTPException`
    (400) for another body.
    """
    from ferryman.domain.calls.call import ToolCall
    from ferryman.tools.local_function.execute import answer

    body = await read_body(request, call=str, tool=str, arguments=dict, user=str, within_s=float)
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
            db = begin(str(user))
            answered = await answer(tool_call, user, db, within_s=body["within_s"])
            return JSONResponse({**asdict(answered), **end(db, answered.code is not None)})
    finally:
        await function.tracer.flush()
