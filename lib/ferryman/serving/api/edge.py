"""The edge of the API: what every request passes before any route, and what an unexpected exception becomes."""

from __future__ import annotations

import hashlib
import re

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ferryman import offload
from ferryman.domain.files.writes import FILE_BYTES_MAX
from ferryman.ports.log import Tracer
from ferryman.serving.faults import describe_fault
from ferryman.serving.problems import create_problem

BODY_BYTES_MAX = 1_000_000

JSON_TYPE, FORM_TYPE = "application/json", "application/x-www-form-urlencoded"

VALUES_MAX = 10_000
"""Values in a body, beyond which reading it, and telling what is wrong with each, would hold up every other owner."""

SIGNS = (b"[", b"{", b",")
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)

IMPORT_PATH = "/tools/import-openapi"
IMPORT_BYTES_MAX = 24_000_000
"""The limit of the routes that take more, once the owner is known: a document of 16 MiB or a file of an archive, as a text."""

FILES_PATH = "/v1/files/"
"""Below it a PUT is the content of a file, of any type (`domain.files.writes.FILE_BYTES_MAX`)."""

CONSOLE_PATH = "/console"
"""At and below it are the console's pages, which send forms."""

UPLOADS_PATH, MULTIPART_TYPE = "/console/files", "multipart/form-data"
"""The page of the console that takes files, each in a form, which it reads as it comes."""

UPLOAD_BYTES_MAX = FILE_BYTES_MAX + 100_000
"""A file and the fields of its form."""

MCP_PATH = "/mcp"
"""What is served there checks its requests itself, and answers all of them as JSON-RPC has it."""

CONSOLE_HEADERS = (
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
"""What an answer there has that says nothing else: a refusal before any page is asked, say, or a file."""

CONSOLE_BYTES_MAX = 3_000_000
"""A form with a task's prompt or an OpenAPI document, each of whose bytes may be escaped as three."""

_ARCHIVE_FILE = re.compile(r"/v1/imports/[^/]+/files")


class EdgeMiddleware:
    """Limits the size of the body while it streams, accepts JSON alone but for files and forms, answers 500 without details."""

    def __init__(self, app: ASGIApp, *, tracer: Tracer) -> None:
        self._app = app
        self._tracer = tracer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun, headers = False, Headers(scope=scope)
        is_console = scope["path"] == CONSOLE_PATH or scope["path"].startswith(f"{CONSOLE_PATH}/")

        async def sending(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(_add_headers(message) if is_console and message["type"] == "http.response.start" else message)

        try:
            if scope["path"].endswith("\n"):
                # the pattern of a route ends with $, which lets a line break follow; no path that is served ends with one
                raise HTTPException(404)
            if scope["path"] == MCP_PATH:
                await self._app(scope, receive, sending)
                return
            is_import = scope["path"].endswith(IMPORT_PATH) or _ARCHIVE_FILE.fullmatch(scope["path"])
            is_file = scope["path"].startswith(FILES_PATH)
            if is_console:
                is_upload = scope["path"] == UPLOADS_PATH and headers.get("content-type", "").startswith(MULTIPART_TYPE)
                most = UPLOAD_BYTES_MAX if is_upload else CONSOLE_BYTES_MAX
                _has_body(headers, most, kind=MULTIPART_TYPE if is_upload else FORM_TYPE)
                await self._app(scope, _bounded(receive, most), sending)
                return
            most = FILE_BYTES_MAX if is_file and scope["method"] == "PUT" else IMPORT_BYTES_MAX if is_import else BODY_BYTES_MAX
            receiving = _bounded(receive, most)
            kind = None if is_file else JSON_TYPE
            if _has_body(headers, most, kind=kind) and most == BODY_BYTES_MAX and not is_file:
                receiving = await _limit_values(receiving, receive, headers.get("authorization", ""))
            await self._app(scope, receiving, sending)
        except HTTPException as error:
            if begun:
                raise
            await create_problem(error.status_code, error.detail)(scope, receive, sending)
        except Exception as error:  # noqa: BLE001 - whatever it is, the client learns only that it happened
            self._report(error, scope, headers)
            if not begun:
                await create_problem(500, "something went wrong on our side")(scope, receive, sending)

    def _report(self, error: Exception, scope: Scope, headers: Headers) -> None:
        """Log a crash with the template of its route, in the request's trace, or in a new one where it names none."""
        route = f"{scope['method']} {scope['route'].path}" if "route" in scope else None
        parent = headers.get("traceparent", "")
        with self._tracer.span("crash", {"http.route": route}, kind="server", parent=parent) as span:
            span.failed(type(error).__name__)
            self._tracer.line("api.crash", severity="ERROR", route=route, **describe_fault(error))


def _add_headers(start: Message) -> Message:
    known = {name.lower() for name, _ in start["headers"]}
    return {**start, "headers": [*start["headers"], *(pair for pair in CONSOLE_HEADERS if pair[0] not in known)]}


def _has_body(headers: Headers, most: int, *, kind: str | None) -> bool:
    length = headers.get("content-length", "0")
    if length.isascii() and length.isdigit() and int(length[:20]) > most:
        raise HTTPException(413, f"the body is larger than {most} bytes")
    has_body = length.strip("0") != "" or "transfer-encoding" in headers
    sent = headers.get("content-type", "").partition(";")[0].strip().lower()
    if has_body and kind is not None and sent != kind:
        raise HTTPException(415, f"the body must be {kind}")
    return has_body


async def _limit_values(bounded: Receive, receive: Receive, key: str) -> Receive:
    """Return a receiver of the whole body. Raise 422 where it has too many values to be read within some milliseconds.

    Where it may have too many, a worker counts them; the owner of `key` waits for a turn there.
    """
    body, more = bytearray(), True
    while more:
        message = await bounded()
        if message["type"] != "http.request":
            return receive  # the client has gone
        body += message.get("body", b"")
        more = message.get("more_body", False)
    if sum(map(body.count, SIGNS)) > VALUES_MAX:
        try:
            values = await offload.run(hashlib.sha256(key.encode()).hexdigest(), offload.TEXT, count_values, bytes(body))
        except offload.OverBudgetError:
            values = VALUES_MAX + 1
        if values > VALUES_MAX:
            raise HTTPException(422, f"the body has more than {VALUES_MAX} values")
    replayed = False

    async def receiving() -> Message:
        nonlocal replayed
        if replayed:
            return await receive()
        replayed = True
        return {"type": "http.request", "body": bytes(body), "more_body": False}

    return receiving


def count_values(body: bytes) -> int:
    """Count the values of a JSON text at most: each follows one of three signs outside of every string."""
    bare = _STRING.sub(b"", body)
    return 1 + sum(map(bare.count, SIGNS))


def _bounded(receive: Receive, most: int) -> Receive:
    received = 0

    async def receiving() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > most:
            raise HTTPException(413, f"the body is larger than {most} bytes")
        return message

    return receiving
