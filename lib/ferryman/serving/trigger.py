"""on_execution as a function: an execution document appeared, whoever wrote it, and it is put into the queue."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from cloudevents.http import from_http
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ferryman import settings
from ferryman.gcp.log import JsonLog
from ferryman.serving.entry import Handler, called_by, http, opened
from ferryman.wiring.trigger import Trigger

_DOCUMENT = re.compile(r"executions/([A-Za-z0-9_-]{1,128})")


def serve(build: Callable[[settings.Settings], Trigger] = Trigger) -> Handler:
    """The function's `main`: 401 or 403 for the wrong caller, 503 to deliver the event again, 200 for all else.

    An event that cannot be read is logged and acknowledged: it would otherwise be redelivered for a day.
    """
    known = opened()
    built: list[Trigger] = []

    async def handle(request: Request) -> Response:
        if not built:
            built.append(build(known))
        house = built[0]
        await called_by(request, house.callers, known.callers, known)
        execution = _execution(dict(request.headers), await request.body())
        if execution is None:
            house.tracer.line("event.unreadable", severity="WARNING")
            return JSONResponse({"enqueued": None})
        await house.queue.enqueue(execution, slice=0)
        house.tracer.line("execution.enqueued", execution=execution)
        return JSONResponse({"enqueued": execution})

    return http(handle, JsonLog())


def _execution(headers: dict[str, str], body: bytes) -> str | None:
    read: Any = from_http  # the library has no types here
    try:
        event = read(headers, body).get_attributes()
    except Exception:  # noqa: BLE001 - whatever the library makes of hostile headers, it is no event
        return None
    name = str(event.get("document") or event.get("subject") or "")
    match = _DOCUMENT.fullmatch(name.removeprefix("documents/"))
    return match[1] if match else None
