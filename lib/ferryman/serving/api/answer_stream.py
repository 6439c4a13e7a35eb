"""Streams of an answer or an execution over HTTP, in the format and from the place that a request asks for."""

from __future__ import annotations

from starlette.responses import Response

from ferryman.composition.api import ApiDependencies
from ferryman.domain.conversations.message import Message
from ferryman.domain.conversations.position import BEGINNING
from ferryman.domain.conversations.watched import WatchedAnswer
from ferryman.domain.executions.execution import Execution
from ferryman.feeds import Feed
from ferryman.serving.api.event_stream import HEADERS, open_event_stream
from ferryman.serving.api.rights import Caller
from ferryman.serving.api.stream_request import StreamRequest, write_prefix
from ferryman.serving.streams.agui_messages import list_history
from ferryman.serving.streams.choice import StreamFormat, create_projection
from ferryman.serving.streams.frame import MEDIA_TYPE
from ferryman.serving.streams.projection import Projection

HISTORY_MESSAGES_MAX = 100
"""How many messages before an answer a snapshot of AG-UI repeats: the newest ones."""


async def stream_execution(deps: ApiDependencies, caller: Caller, execution: Execution, request: StreamRequest) -> Response:
    """Return the response that streams an execution, as numbered events where the request names no format.

    204 where it has ended and nothing follows; raise 429 where as many streams are open as may be.
    """
    projection = await _open(deps, execution, request, request.format or StreamFormat.NUMBERED, is_new=False)
    return await _respond(deps, caller, execution, projection, prefix="")


async def stream_answer(
    deps: ApiDependencies,
    caller: Caller,
    execution: Execution,
    request: StreamRequest,
    *,
    is_new: bool = False,
) -> Response:
    """Return the response that streams an answer of a conversation, as messages where the request names no format.

    The position counts where it is in this answer. `is_new` tells that the request has asked the question. Otherwise as
    `stream_execution`.
    """
    if request.answer not in (None, execution.answer):
        request = StreamRequest(request.format)
    projection = await _open(deps, execution, request, request.format or StreamFormat.MESSAGE, is_new=is_new)
    return await _respond(deps, caller, execution, projection, prefix=write_prefix(execution.answer))


async def _respond(
    deps: ApiDependencies, caller: Caller, execution: Execution, projection: Projection, *, prefix: str
) -> Response:
    if not execution.status.terminal:
        return await open_event_stream(execution, projection, deps=deps, caller=caller, prefix=prefix)
    feed = Feed(deps.executions, execution)
    await feed.refresh(0)
    frames = projection.render(WatchedAnswer(execution=execution, steps=feed.steps, tickets=feed.tickets))
    if not frames:
        return Response(status_code=204, headers=HEADERS)  # a browser that gets one does not connect again
    body = "".join(frame.write(prefix) for frame in frames)
    return Response(body, media_type=MEDIA_TYPE, headers={**HEADERS, **projection.headers})


async def _open(
    deps: ApiDependencies, execution: Execution, request: StreamRequest, chosen: StreamFormat, *, is_new: bool
) -> Projection:
    if chosen is not StreamFormat.AGUI:
        return create_projection(chosen, request.position)
    history = list_history(await _read_history(deps, execution))
    return create_projection(chosen, request.position, history=history, is_new=is_new and request.position == BEGINNING)


async def _read_history(deps: ApiDependencies, execution: Execution) -> list[Message]:
    """Return the newest messages of the branch that an answer follows, its question included."""
    last = execution.question
    if not execution.answer:
        return []
    first = max(0, last - HISTORY_MESSAGES_MAX)
    stored = await deps.conversations.list_messages(execution.conversation, after=first, most=last - first)
    known = {message.number: message for message in stored}
    branch: list[Message] = []
    while last in known and (not branch or last < branch[-1].number):
        branch.append(known[last])
        last = known[last].parent
    return branch[::-1]
