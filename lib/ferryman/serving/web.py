"""web as a function: it fetches one public page, and knows neither tickets nor tasks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ferryman.domain.calls.url_origin import UrlOrigin
from ferryman.domain.files.kept import KEPT_BYTES_MAX
from ferryman.serving import entry
from ferryman.serving.entry import Handler, read_body
from ferryman.settings import Settings

if TYPE_CHECKING:
    from ferryman.composition.web import WebFunction


LEAST = 2_000
"""Characters of a page that may be asked for at least: a part of it ends with a line of its own."""


def build_function(known: Settings) -> WebFunction:
    """Return what the function is made of."""
    from ferryman.composition.web import WebFunction

    return WebFunction(known)


def serve(build: Callable[[Settings], WebFunction] = build_function) -> Handler:
    """Return the function's `main`: POST / fetches a page.

    200 with `content`, the `code` of a failure or null, and what was sent and received, whatever the site did; 400 for another
    body, 401 or 403 for the wrong caller.
    """
    return entry.serve(build, _answer, entry.allow_callers)


async def _answer(function: WebFunction, request: Request) -> Response:
    from ferryman.tools.web.web_fetch import web_fetch

    members = {"call": str, "tool": str, "arguments": dict, "user": str, "within_s": float}
    body = await read_body(request, **members, origin=str, anywhere=bool, domains=list, most=int)
    if not LEAST <= body["most"] <= KEPT_BYTES_MAX:
        raise HTTPException(400, f"most must be {LEAST:,} to {KEPT_BYTES_MAX:,}")
    if body["origin"] not in tuple(UrlOrigin) or not UrlOrigin(body["origin"]).is_fetched:
        raise HTTPException(400, "origin must be that of a URL which is fetched")
    try:
        about = {"gen_ai.tool.name": body["tool"]}
        with function.tracer.span(
            f"execute {body['tool']}", about, kind="server", parent=request.headers.get("traceparent", "")
        ):
            return JSONResponse(await web_fetch(function.pages, body, ceiling=function.page_bytes_max))
    finally:
        await function.tracer.flush()
