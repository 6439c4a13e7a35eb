"""Sessions of 2025 that may be ended, and streams that may be resumed: for applications that keep them. None is needed."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from ferryman.domain.mcp_codes import ErrorCode
from ferryman.domain.mcp_revisions import SESSION_HEADER
from ferryman.serving.mcp import legacy
from ferryman.serving.mcp.answers import write_message
from ferryman.serving.mcp.errors import McpError, refuse_http
from ferryman.serving.mcp.exchange import Message
from ferryman.serving.mcp.message_stream import HEADERS, STREAM_MEDIA_TYPE
from ferryman.serving.mcp.outgoing import OutgoingEvent
from ferryman.serving.mcp.server import McpServer
from ferryman.serving.mcp.session_log import SessionLog
from ferryman.serving.mcp.sessions import Session

EVENT_CHARACTERS_MAX = 256


async def check_session(log: SessionLog | None, session: Session) -> None:
    """Raise `McpError` with 404 for a session that was ended."""
    if log is not None and await log.has_ended(session.id):
        raise McpError(ErrorCode.INVALID_REQUEST, "the session was ended: initialize again", status=404)


async def respond_without_body(server: McpServer, request: Request) -> Response:
    """Return the response to a GET or DELETE. Raise `McpError` with 405 where the application has neither."""
    log = server.session_log
    event = request.headers.get("last-event-id", "")
    if log is None or request.method not in ("GET", "DELETE") or (request.method == "GET" and not event):
        raise refuse_http(405, "only POST is served here", {"Allow": "POST"})
    caller = await server.authenticate(request, b"")
    if SESSION_HEADER not in request.headers:
        raise McpError(ErrorCode.INVALID_REQUEST, "Mcp-Session-Id is missing", status=400)
    session = await legacy.find_session(server, server.principal(caller), request.headers)
    await check_session(log, session)
    if request.method == "DELETE":
        await log.end(session.id)
        return Response(status_code=204)
    events = log.follow(session.id, event[:EVENT_CHARACTERS_MAX])
    if events is None:
        raise McpError(ErrorCode.INVALID_REQUEST, "there is no such event in this session", status=404)
    return StreamingResponse(_write_events(events), media_type=STREAM_MEDIA_TYPE, headers=HEADERS)


async def _write_events(events: AsyncGenerator[tuple[str, Message], None]) -> AsyncGenerator[str, None]:
    async for name, message in events:
        yield OutgoingEvent(write_message(message), id=name).write()
