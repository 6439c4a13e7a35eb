"""The way of a request: origin, body, caller, JSON-RPC, revision, method. Whatever goes wrong is a JSON-RPC error."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from ferryman.domain.mcp_revisions import LEGACY, MODERN, PROTOCOL_VERSION, SESSION_HEADER, VERSION_HEADER
from ferryman.serving.mcp import legacy, modern, subscriptions
from ferryman.serving.mcp.answers import MEDIA_TYPE, build_error, build_result, explain, write_error, write_message
from ferryman.serving.mcp.errors import McpError, refuse_http
from ferryman.serving.mcp.exchange import McpExchange
from ferryman.serving.mcp.headers import get_header
from ferryman.serving.mcp.message_stream import STREAM_MEDIA_TYPE
from ferryman.serving.mcp.outgoing import Outgoing
from ferryman.serving.mcp.reading import check_envelope, check_origin, parse_message, read_body, read_id
from ferryman.serving.mcp.resuming import check_session, respond_without_body
from ferryman.serving.mcp.running import run
from ferryman.serving.mcp.server import McpServer, Method, hide_error
from ferryman.serving.mcp.sessions import open_session

UNAUTHORIZED = 401


async def respond(server: McpServer, request: Request) -> Response:
    """Return the response to a request at the server's endpoint, whatever it is. Nothing is raised but what ends the process.

    The body of `request` must not have been read; a middleware may have, and replays it.
    """
    message: Mapping[str, Any] = {}
    body = b""
    try:
        check_origin(server, request)
        if request.method != "POST":
            return await respond_without_body(server, request)
        body = await read_body(server, request)
        caller = await server.authenticate(request, body)
        accepts = read_accept(request)
        message = parse_message(body)
        check_envelope(message)
        if is_legacy(request, message):
            return await _respond_legacy(server, request, caller, message, accepts)
        return await _respond_modern(server, request, caller, message, accepts)
    except Exception as error:  # noqa: BLE001 - a stranger never reads a traceback
        failure = explain(server, error, None)
        if not message and failure.code > 0 and failure.status != UNAUTHORIZED:
            message = _find_message(body)  # of a caller that is known and refused all the same: its client looks for the id
        return write_error(failure, read_id(message))


def _find_message(body: bytes) -> Mapping[str, Any]:
    try:
        return parse_message(body)
    except McpError:
        return {}


def read_accept(request: Request) -> frozenset[str]:
    """Return which of JSON and event streams the client takes. Raise `McpError` with 406 for neither."""
    listed = ",".join(request.headers.getlist("accept")) or "*/*"
    ranges = {part.partition(";")[0].strip().lower() for part in listed.split(",")}
    accepts = frozenset(
        kind for kind in (MEDIA_TYPE, STREAM_MEDIA_TYPE) if ranges & {kind, "*/*", f"{kind.partition('/')[0]}/*"}
    )
    if not accepts:
        raise refuse_http(406, f"Accept must list {MEDIA_TYPE} and {STREAM_MEDIA_TYPE}")
    return accepts


def is_legacy(request: Request, message: Mapping[str, Any]) -> bool:
    """Say whether the request is of 2025: it names no version in its body, and begins or continues a session of that time."""
    meta = message.get("params", {}).get("_meta")
    if isinstance(meta, Mapping) and PROTOCOL_VERSION in meta:
        return False
    version = get_header(request.headers, VERSION_HEADER)
    if "method" not in message:
        return True  # a response: only 2025 has servers that ask
    if message["method"] == "initialize" and version != MODERN:
        return True
    return version in LEGACY or (version is None and (SESSION_HEADER in request.headers or meta is None))


async def _respond_modern(
    server: McpServer, request: Request, caller: Any, message: Mapping[str, Any], accepts: frozenset[str]
) -> Response:
    if "id" not in message:
        meta = message.get("params", {}).get("_meta", {})
        if isinstance(meta, Mapping) and PROTOCOL_VERSION in meta:
            modern.check_version(request.headers, meta)
        return Response(status_code=202)  # the revision has none over HTTP that would do anything
    exchange = modern.build_exchange(server, caller, request.headers, message)
    if exchange.method == modern.LISTEN and server.listen is not None:
        return await _respond_listen(server, request, exchange, accepts)
    method = modern.find_method(server, exchange)
    await modern.check_headers(server, request.headers, exchange)
    return await run(request, partial(_call, server, exchange, method), accepts=accepts, stream_after_s=server.stream_after_s)


async def _respond_listen(server: McpServer, request: Request, exchange: McpExchange, accepts: frozenset[str]) -> Response:
    assert server.listen is not None
    if STREAM_MEDIA_TYPE not in accepts:
        raise refuse_http(406, f"Accept must list {STREAM_MEDIA_TYPE}")
    filter_ = subscriptions.read_filter(exchange)
    subscription = await server.listen(exchange, filter_)
    honoured = subscriptions.narrow_filter(filter_, subscription.filter)
    work = partial(subscriptions.stream, server, exchange, honoured, subscription)
    return await run(request, work, accepts=accepts, stream_after_s=server.stream_after_s)


async def _respond_legacy(
    server: McpServer, request: Request, caller: Any, message: Mapping[str, Any], accepts: frozenset[str]
) -> Response:
    principal = server.principal(caller)
    params = message.get("params", {})
    if message.get("method") == "initialize" and "id" in message:
        return await _initialize(server, principal, message["id"], params)
    session = await legacy.find_session(server, principal, request.headers)
    log = server.session_log
    await check_session(log, session)
    if "method" not in message:
        if server.receive_answer is not None:
            await server.receive_answer(session.id, message)
        return Response(status_code=202)
    if "id" not in message:
        if message["method"] == "notifications/cancelled" and isinstance(params.get("requestId"), str | int):
            task = server.running.get((principal, session.id, params["requestId"]))
            if task is not None:
                task.cancel()
        return Response(status_code=202)
    try:
        exchange = legacy.build_exchange(server, caller, session, message)
        method = legacy.find_method(server, exchange)
    except McpError as error:
        return write_error(error, message["id"], status=200)
    key = (principal, session.id, exchange.id)

    def register(task: asyncio.Task[None]) -> None:
        server.running[key] = task
        task.add_done_callback(forget)

    def forget(task: asyncio.Task[None]) -> None:
        if server.running.get(key) is task:  # an id that is used again names the later request
            del server.running[key]

    return await run(
        request,
        partial(_call, server, exchange, method),
        accepts=accepts,
        stream_after_s=server.stream_after_s,
        is_cancelled_by_leaving=False,
        register=register,
        record=None if log is None else partial(log.record, session.id, exchange.id),
        is_legacy=True,
    )


async def _initialize(server: McpServer, principal: str, id: str | int, params: Mapping[str, Any]) -> Response:  # noqa: A002
    try:
        revision, result = legacy.initialize(server, params)
    except McpError as error:
        return write_error(error, id, status=200)
    session = await open_session(server, principal, revision, params)
    headers = {} if session is None else {"Mcp-Session-Id": session}
    content = write_message({"jsonrpc": "2.0", "id": id, "result": result})
    return Response(content, media_type=MEDIA_TYPE, headers=headers)


async def _call(server: McpServer, exchange: McpExchange, method: Method, outgoing: Outgoing) -> None:
    """Run the method and send its result, or the error that it ended with."""
    exchange.emit, exchange.end_stream = outgoing.emit, outgoing.end_stream
    try:
        result = build_result(server, exchange, await method(exchange))
        await outgoing.end({"jsonrpc": "2.0", "id": exchange.id, "result": result})
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        await _end_with(outgoing, exchange, hide_error(RuntimeError(), exchange))  # something inside gave up, not the client
    except Exception as error:  # noqa: BLE001 - a stranger never reads a traceback
        await _end_with(outgoing, exchange, explain(server, error, exchange))


async def _end_with(outgoing: Outgoing, exchange: McpExchange, failure: McpError) -> None:
    try:
        await outgoing.end(build_error(failure, exchange.id), failure)
    except (TypeError, ValueError):  # its data are no JSON
        hidden = hide_error(failure, exchange)
        await outgoing.end(build_error(hidden, exchange.id), hidden)
