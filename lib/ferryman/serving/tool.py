"""A tool as a function: it takes one journaled call at a time, and believes nothing of the request but which one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ferryman import settings
from ferryman.domain.connection import Unconnected
from ferryman.domain.refusal import Refused
from ferryman.gcp.log import JsonLog
from ferryman.ports import Stale, Summons
from ferryman.serving.entry import Handler, body_of, called_by, http, opened
from ferryman.serving.problems import problem
from ferryman.tools.carry import carry, look_through
from ferryman.tools.connect import finish
from ferryman.tools.reseal import reseal
from ferryman.wiring.tool import Tool

RESEAL, CONNECT = "/reseal", "/connect"


def serve(name: str, build: Callable[[settings.Settings], Tool] = Tool) -> Handler:
    """The `main` of tool `name`: POST / carries a call, POST /scan looks through what the model said, POST /reseal seals a
    task's credentials to another version of the key, for the accounts that rotate keys and for no other; POST /connect
    exchanges a person's consent for a credential, for the accounts that ask for that and for no other.

    200 with the result; 409 when the lease, the ticket or the task says no; 422 when a credential does not open for a scan, or
    a consent came to nothing;
    401 or 403 for the wrong caller; 503 to try again.
    """
    known = opened()
    built: list[Tool] = []

    async def handle(request: Request) -> Response:
        if not built:
            built.append(build(known))
        house = built[0]
        path = request.url.path
        allowed = {RESEAL: known.resealers, CONNECT: known.connectors}.get(path, known.callers)
        await called_by(request, house.callers, allowed, known)
        tracer, parent = house.carrying.tracer, request.headers.get("traceparent", "")
        try:
            if path == "/scan":
                body = await body_of(request, execution=str, epoch=int, content=list)
                with tracer.span("scan", kind="server", parent=parent):
                    return JSONResponse({"content": await look_through(house.carrying, **body)})
            if path == CONNECT:
                body = await body_of(request, task=str, owner=str, digest=str, code=str, version=int)
                with tracer.span("connect", kind="server", parent=parent):
                    return JSONResponse({"name": await finish(house.carrying, **body)})
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
        except Unconnected as unconnected:
            return problem(422, "Unprocessable Content", str(unconnected))
        except Stale as stale:
            return problem(409, "Conflict", str(stale))
        finally:
            await tracer.flush()

    return http(handle, JsonLog())
