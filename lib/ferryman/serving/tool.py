"""A tool as a function: it takes one journaled call at a time, and believes nothing of the request but which one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ferryman import settings
from ferryman.domain.refusal import Refused
from ferryman.gcp.log import JsonLog
from ferryman.ports import Stale, Summons
from ferryman.serving.entry import Handler, body_of, called_by, http, opened
from ferryman.serving.problems import problem
from ferryman.tools.carry import carry, look_through
from ferryman.tools.reseal import reseal
from ferryman.wiring.tool import Tool

RESEAL = "/reseal"

House = TypeVar("House", bound=Tool)
Asked = Callable[[House, Request], Awaitable[Response]]
"""What answers one further path of a tool function."""

NOTHING: Mapping[str, Any] = {}


def serve(name: str) -> Handler:
    """The `main` of the tool `name`."""
    return served(name, Tool, NOTHING)


def served(name: str, build: Callable[[settings.Settings], House], asked: Mapping[str, Asked[House]]) -> Handler:
    """The `main` of tool `name`: POST / carries a call, POST /scan looks through what the model said, POST /reseal seals a
    task's credentials to another version of the key, for the accounts that rotate keys and for no other. `asked` are further
    paths, for the API's account and no other.

    200 with the result; 409 when the lease, the ticket or the task says no; 422 when a credential does not open for a scan;
    401 or 403 for the wrong caller; 503 to try again.
    """
    known = opened()
    built: list[House] = []

    async def handle(request: Request) -> Response:
        if not built:
            built.append(build(known))
        house = built[0]
        path = request.url.path
        allowed = known.resealers if path == RESEAL else known.connectors if path in asked else known.callers
        await called_by(request, house.callers, allowed, known)
        tracer, parent = house.carrying.tracer, request.headers.get("traceparent", "")
        try:
            if path == "/scan":
                body = await body_of(request, execution=str, epoch=int, content=list)
                with tracer.span("scan", kind="server", parent=parent):
                    return JSONResponse({"content": await look_through(house.carrying, **body)})
            if path in asked:
                with tracer.span(path[1:], kind="server", parent=parent):
                    return await asked[path](house, request)
            if path == RESEAL:
                body = await body_of(request, task=str, version=int)
                return JSONResponse({"unreadable": await reseal(house.carrying, **body)})
            if path != "/":
                return problem(404, "Not Found", "there is nothing here")
            body = await body_of(request, execution=str, call=int, epoch=int, task=str, owner=str)
            with tracer.span(f"carry {name}", {"gen_ai.tool.name": name}, kind="server", parent=parent):
                result = await carry(house.carrying, name, Summons(seq=body.pop("call"), **body))
            return JSONResponse({"result": asdict(result)})
        except Refused as refused:
            return problem(422, "Unprocessable Content", refused.refusal.message)
        except Stale as stale:
            return problem(409, "Conflict", str(stale))
        finally:
            await tracer.flush()

    return http(handle, JsonLog())
