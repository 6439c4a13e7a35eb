"""Live pages: the API's own stream of events, relayed as parts of a page to a browser whose session is still good.

A burst of events is one rendering: what has come while the page's parts are rendered waits for the next one.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import Response, StreamingResponse

from ferryman.composition.api import ApiDependencies
from ferryman.ports.errors import UnavailableError
from ferryman.serving.console.api_client import ApiProblemError, ask_together
from ferryman.serving.console.routing import ConsoleRequest
from ferryman.serving.console.security_headers import HEADERS
from ferryman.serving.streams.frame import KEEP_ALIVE, MEDIA_TYPE

CHECK_S = 1.0
"""How often it is read whether the session is still there: a stream ends within two seconds of its end."""

PAUSE_S = 0.05
"""How long events gather after each rendering: of a burst there are at most twenty in a second."""

TOO_MANY, AGAIN_S = 429, 1.0
"""The status with which the API says that it is busy, and the seconds until it is asked again."""

EVENTS_WAITING_MAX = 1_000
"""How many events wait to be rendered; then the API's stream waits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayedEvent:
    """An event of the API's stream; a stream resumes after an `id`."""

    id: str
    kind: str
    data: Any = field(repr=False)


RenderEvents = Callable[[Sequence[RelayedEvent]], Awaitable[Mapping[str, Any]]]
"""Returns the data to send for some events, by the event name that the page's script listens to."""


async def relay_events(request: ConsoleRequest, path: str, render: RenderEvents, **query: Any) -> Response:
    """Return the stream of what `render` returns for the events at the API's `path`, after the last one that was seen.

    A browser whose stream has ended connects again; where there is nothing more to come it is then sent `end`, and stays away.
    Raises `ApiProblemError` where the API refuses the stream.
    """
    seen = request.request.headers.get("last-event-id") or request.query.get("after")
    opened = request.api.open("GET", path, query={**query, "after": seen})
    answer, parts = await opened.__aenter__()
    if answer.status == 204:
        await opened.__aexit__(None, None, None)
        return _respond(_write_end())

    async def send() -> AsyncIterator[str]:
        try:
            async for text in send_rendered(request, read_events(parts), render):
                yield text
        finally:
            await opened.__aexit__(None, None, None)

    return _respond(send())


async def read_events(parts: AsyncIterator[bytes]) -> AsyncIterator[RelayedEvent]:
    """Yield the events of a stream of ours: each field of an event is on one line, and an empty line ends it."""
    rest = b""
    async for part in parts:
        *blocks, rest = (rest + part).split(b"\n\n")
        for block in blocks:
            fields = dict(line.split(": ", 1) for line in block.decode().split("\n") if ": " in line and line[0] != ":")
            if "data" in fields:
                kind = fields.get("event", "message")
                yield RelayedEvent(id=fields.get("id", ""), kind=kind, data=json.loads(fields["data"]))


async def send_rendered(
    request: ConsoleRequest, events: AsyncIterator[RelayedEvent], render: RenderEvents
) -> AsyncIterator[str]:
    """Yield the frames that `render` makes of `events`, those that wait at once, until the session or the API's stream ends."""
    waiting: asyncio.Queue[RelayedEvent | None] = asyncio.Queue(EVENTS_WAITING_MAX)
    reading = asyncio.ensure_future(_read_all(events, waiting))
    try:
        while True:
            try:
                async with asyncio.timeout(CHECK_S):
                    first = await waiting.get()
            except TimeoutError:
                if not await _is_signed_in(request):
                    return
                yield KEEP_ALIVE
                continue
            batch = [first]
            while not waiting.empty():
                batch.append(waiting.get_nowait())
            known = [event for event in batch if event is not None]
            if known:
                rendered, is_signed_in = await ask_together(_render_in_turn(request, known, render), _is_signed_in(request))
                if not is_signed_in:
                    return
                frames = list(rendered.items())
                for kind, body in frames:
                    # with the last of them alone: who has seen it has seen them all
                    yield _write_frame(_find_last_id(known) if kind == frames[-1][0] else "", kind, body)
            if None in batch:
                return
            await asyncio.sleep(PAUSE_S)
    except (ApiProblemError, UnavailableError, HTTPException):
        return  # the API refuses what the page shows: the browser asks again, and is told why
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


async def _render_in_turn(request: ConsoleRequest, events: Sequence[RelayedEvent], render: RenderEvents) -> Mapping[str, Any]:
    """Return the result of `render`, run beside few others of the owner, and again later while the API is busy."""
    deps: ApiDependencies = request.request.app.state.deps
    while True:
        try:
            async with deps.live_of.turn(request.session.owner):
                return await render(events)
        except (ApiProblemError, HTTPException) as error:
            status = error.status if isinstance(error, ApiProblemError) else error.status_code
            if status != TOO_MANY or not await _is_signed_in(request):
                raise
        await asyncio.sleep(AGAIN_S)


async def _read_all(events: AsyncIterator[RelayedEvent], waiting: asyncio.Queue[RelayedEvent | None]) -> None:
    """Read to the end, and say so; what breaks the API's stream is logged there, and ends this one."""
    with suppress(ValueError, RuntimeError, UnavailableError):
        async for event in events:
            await waiting.put(event)
    await waiting.put(None)


async def _is_signed_in(request: ConsoleRequest) -> bool:
    deps: ApiDependencies = request.request.app.state.deps
    try:
        session = await deps.console_sessions.find(request.session.id)
    except UnavailableError:
        return False  # nobody knows; the browser connects again
    return session is not None and not session.is_expired(deps.clock.now())


def _find_last_id(events: Sequence[RelayedEvent]) -> str:
    return next((event.id for event in reversed(events) if event.id), "")


def _write_frame(name: str, kind: str, body: Any) -> str:
    head = f"id: {name}\n" if name else ""
    return f"{head}event: {kind}\ndata: {json.dumps(body)}\n\n"


async def _write_end() -> AsyncIterator[str]:
    yield _write_frame("", "end", {})


def _respond(frames: AsyncIterator[str]) -> Response:
    return StreamingResponse(frames, media_type=MEDIA_TYPE, headers={**HEADERS, "X-Accel-Buffering": "no"})
