"""The edge of the API: what every request passes before any route, and what becomes of an exception nobody expected."""

from __future__ import annotations

import traceback

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ferryman.ports import Tracer
from ferryman.serving.problems import problem, title_of

BODY_BYTES_MAX = 1_000_000

LARGE = "/tools/import-openapi"
LARGE_BYTES_MAX = 24_000_000
"""The one route that takes more, once it knows who asks: a document of 16 MiB, written as a text in JSON."""


class Edge:
    """Bounds the body while it streams, wants JSON where there is one, and answers 500 without a word of detail."""

    def __init__(self, app: ASGIApp, *, tracer: Tracer) -> None:
        self._app = app
        self._tracer = tracer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False

        async def sending(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            most = LARGE_BYTES_MAX if scope["path"].endswith(LARGE) else BODY_BYTES_MAX
            _headers(Headers(scope=scope), most)
            await self._app(scope, _bounded(receive, most), sending)
        except HTTPException as error:
            if begun:
                raise
            await problem(error.status_code, title_of(error.status_code), error.detail)(scope, receive, send)
        except Exception as error:  # noqa: BLE001 - whatever it is, the client learns only that it happened
            self._tracer.line("api.crash", severity="ERROR", error=type(error).__name__, at=_places(error))
            if not begun:
                await problem(500, title_of(500), "something went wrong on our side")(scope, receive, send)


def _headers(headers: Headers, most: int) -> None:
    length = headers.get("content-length", "0")
    if length.isascii() and length.isdigit() and int(length[:20]) > most:
        raise too_large(most)
    has_body = length.strip("0") != "" or "transfer-encoding" in headers
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if has_body and kind != "application/json":
        raise HTTPException(415, "the body must be application/json")


def _bounded(receive: Receive, most: int) -> Receive:
    received = 0

    async def receiving() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > most:
            raise too_large(most)
        return message

    return receiving


def too_large(most: int) -> HTTPException:
    """The body is longer than is taken."""
    return HTTPException(413, f"the body is larger than {most} bytes")


def _places(error: BaseException) -> list[str]:
    # file and line only: an exception's own words may repeat what was sent
    frames = traceback.extract_tb(error.__traceback__)
    return [f"{frame.filename.rpartition('/')[2]}:{frame.lineno}" for frame in frames[-8:]]
