"""Running a request: one JSON answer, or an event stream where notifications go before the result or it takes long.

A client of 2026 that disconnects cancels its request; one of 2025 does so with a notification.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive

from ferryman.serving.mcp.answers import MEDIA_TYPE
from ferryman.serving.mcp.errors import McpError
from ferryman.serving.mcp.exchange import Message
from ferryman.serving.mcp.message_stream import STREAM_MEDIA_TYPE, LeftError, MessageStream
from ferryman.serving.mcp.outgoing import Outgoing, OutgoingEvent


async def run(
    request: Request,
    work: Callable[[Outgoing], Awaitable[None]],
    *,
    accepts: frozenset[str],
    stream_after_s: float,
    is_cancelled_by_leaving: bool = True,
    register: Callable[[asyncio.Task[None]], None] | None = None,
    record: Callable[[Message | None], Awaitable[str]] | None = None,
    is_legacy: bool = False,
) -> Response:
    """Return the response of a request whose `work` sends its messages into `Outgoing`.

    `accepts` holds the media types that the client takes. `register` is given the task before it runs. `record` stores the
    events of a stream that may be resumed, and names them.
    """
    outgoing = Outgoing(with_stream=STREAM_MEDIA_TYPE in accepts, record=record)
    task = asyncio.create_task(_work(work, outgoing))
    if register is not None:
        register(task)
    if MEDIA_TYPE in accepts and (at_once := await _find_answer_at_once(outgoing, task)) is not None:
        return _write_json(at_once, outgoing.error, is_legacy=is_legacy)
    leaving = asyncio.create_task(_wait_for_leaving(request.receive))
    stream = MessageStream(outgoing, task, leaving, is_cancelled_by_leaving=is_cancelled_by_leaving)
    is_handed_over = False
    try:
        event = await stream.get_next(stream_after_s if STREAM_MEDIA_TYPE in accepts else None)
        if event.is_last and MEDIA_TYPE in accepts:
            return _write_json(event, outgoing.error, is_legacy=is_legacy)
        stream.first = event
        is_handed_over = True
        return stream
    except LeftError:
        return Response(media_type=STREAM_MEDIA_TYPE)  # of a request that was cancelled by name: no message follows
    finally:
        if not is_handed_over:
            await stream.close()


async def _work(work: Callable[[Outgoing], Awaitable[None]], outgoing: Outgoing) -> None:
    await outgoing.begin()
    await work(outgoing)


async def _find_answer_at_once(outgoing: Outgoing, task: asyncio.Task[None]) -> OutgoingEvent | None:
    """Let the work run until it waits for something, and return its answer where it did not have to."""
    try:
        await asyncio.sleep(0)
    except asyncio.CancelledError:
        task.cancel()
        raise
    return outgoing.pop_last() if task.done() else None


async def _wait_for_leaving(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _write_json(event: OutgoingEvent, error: McpError | None, *, is_legacy: bool) -> Response:
    status = 200 if error is None or (is_legacy and error.code < 0) else error.status
    headers = None if error is None else error.headers
    return Response(event.text, status_code=status, media_type=MEDIA_TYPE, headers=headers)
