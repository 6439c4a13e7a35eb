"""The entry of a function: what functions-framework is given, and the checks every internal call passes first."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from functions_framework import aio
from starlette.requests import Request
from starlette.responses import Response

from ferryman import settings
from ferryman.gcp.log import listen
from ferryman.ports import Callers, Log, Unavailable
from ferryman.serving.problems import problem
from ferryman.settings import Settings

BODY_BYTES_MAX = 8 * 1024 * 1024
"""An internal call's body: ids, or one turn of the model."""

Handler = Callable[[Request], Awaitable[Any]]


def opened() -> Settings:
    """The settings; in a function's own process, every library speaks through our log alone from here on."""
    known = settings.read()
    if known.function:
        listen(known.log_level)
    return known


def http(handler: Handler, log: Log) -> Handler:
    """`handler` as the function's `main`: functions-framework finds its kind by that name.

    `Denied` becomes its answer, `Unavailable` 503; any other exception is traced by its type and answered with 500.
    """

    async def main(request: Request) -> Any:
        try:
            return await handler(request)
        except Denied as denied:
            return denied.response
        except Unavailable as unavailable:
            return problem(503, "Service Unavailable", str(unavailable))
        except Exception as fault:  # noqa: BLE001 - a traceback may hold what was sent
            log.line("function.fault", kind=type(fault).__name__, severity="ERROR")
            return problem(500, "Internal Server Error", "something went wrong on our side")

    register: Any = aio.http  # its type does not know of ASGI applications as answers
    registered: Handler = register(main)
    return registered


class Denied(Exception):  # noqa: N818 - reads as the fact it states
    """The request goes no further than its answer."""

    def __init__(self, response: Response) -> None:
        super().__init__(response.status_code)
        self.response = response


async def called_by(request: Request, callers: Callers, allowed: tuple[str, ...], known: Settings) -> str:
    """The caller's e-mail, when it is among `allowed`; raises `Denied` with 401, 403 or 503."""
    audience = known.function_urls.get(known.function, "")
    try:
        email = await callers.identify(request.headers.get("authorization"), audience=audience)
    except PermissionError as error:
        raise Denied(problem(401, "Unauthorized", str(error))) from None
    except Unavailable as error:
        raise Denied(problem(503, "Service Unavailable", str(error))) from None
    if email not in allowed:
        raise Denied(problem(403, "Forbidden", "this caller may not call this function"))
    return email


async def body_of(request: Request, **fields: type) -> dict[str, Any]:
    """The JSON object that was posted, holding exactly `fields` of these types; raises `Denied` with 4xx otherwise."""
    if request.method != "POST":
        raise Denied(problem(405, "Method Not Allowed", "only POST is served here"))
    received = bytearray()
    async for chunk in request.stream():
        received += chunk
        if len(received) > BODY_BYTES_MAX:
            raise Denied(problem(413, "Content Too Large", f"the body is larger than {BODY_BYTES_MAX} bytes"))
    try:
        body = json.loads(received)
    except (ValueError, RecursionError):
        raise Denied(problem(400, "Bad Request", "the body is not JSON")) from None
    if not isinstance(body, dict) or set(body) != set(fields):
        raise Denied(problem(400, "Bad Request", f"the body must be an object with exactly {', '.join(sorted(fields))}"))
    for name, kind in fields.items():
        if type(body[name]) is not kind:
            raise Denied(problem(400, "Bad Request", f"{name} must be of type {kind.__name__}"))
    return body
