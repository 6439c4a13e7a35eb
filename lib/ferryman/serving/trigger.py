"""on_execution as a function: it enqueues every execution whose document was created, no matter who wrote it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from cloudevents.http import from_http
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ferryman import settings
from ferryman.serving import entry
from ferryman.serving.entry import Handler

if TYPE_CHECKING:
    from ferryman.composition.trigger import TriggerFunction

_DOCUMENT = re.compile(r"executions/([^/]{1,1500})", re.DOTALL)


def build_function(known: settings.Settings) -> TriggerFunction:
    """Return what the function is made of."""
    from ferryman.composition.trigger import TriggerFunction

    function = TriggerFunction(known)
    function.load()
    return function


def serve(build: Callable[[settings.Settings], TriggerFunction] = build_function) -> Handler:
    """Return the function's `main`: 401 or 403 for the wrong caller, 503 to deliver the event again, 200 for all else.

    An event that cannot be read is logged and acknowledged: it would otherwise be redelivered for a day.
    """
    return entry.serve(build, _answer, entry.allow_callers)


async def _answer(function: TriggerFunction, request: Request) -> Response:
    execution = _parse_execution(dict(request.headers), await request.body())
    if execution is None:
        function.tracer.line("event.unreadable", severity="WARNING")
        return JSONResponse({"enqueued": None})
    await function.queue.enqueue(execution, slice=0)
    function.tracer.line("execution.enqueued", execution=execution)
    return JSONResponse({"enqueued": execution})


def _parse_execution(headers: dict[str, str], body: bytes) -> str | None:
    try:
        event: Any = from_http(headers, body).get_attributes()
    except Exception:  # noqa: BLE001 - whatever the library makes of hostile headers, it is no event
        return None
    name = str(event.get("document") or event.get("subject") or "")
    # the binding of CloudEvents to HTTP encodes what is not ASCII, and the library leaves it so
    match = _DOCUMENT.fullmatch(unquote(name.removeprefix("documents/")))
    return match[1] if match else None
