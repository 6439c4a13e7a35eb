"""Event streams: each counts among those its owner has open, from its first byte until its client or its process is gone."""

from __future__ import annotations

import asyncio
from asyncio import sleep
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from ferryman.composition.api import ApiDependencies
from ferryman.domain.executions.execution import Execution
from ferryman.domain.owners.stream import HOLD, RENEWAL
from ferryman.domain.workspaces.member import Right
from ferryman.ports.errors import UnavailableError
from ferryman.ports.notices import Notice
from ferryman.serving import sse
from ferryman.serving.api.errors import TooManyRequestsError
from ferryman.serving.api.revocation import still_has_right
from ferryman.serving.api.rights import Caller

AGAIN_S = 5
"""After how many seconds it is worth another try where too many are open."""

RELEASE_S = 5.0
"""How many seconds the end of a stream may take to be stored; where that fails, it counts until it expires."""

HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


POLLS_TOGETHER = 4
"""Where the store tells of no changes, up to so many watched executions of one owner are read every `poll_s` seconds each,
however many streams watch them. More are read less often, so that together they poll at the same rate."""


CHECK_EVERY = timedelta(seconds=0.5)
"""How often it is read whether the client may still read: a stream ends within a second of a revocation."""


STEP_S_MIN = 0.01
"""A check that is due within less is not worth a wait of its own."""


class _NotAllowedError(Exception):
    """The client may not read any longer."""


class EventStreamResponse(StreamingResponse):
    """The frames of an execution's events. Made by `open_event_stream`."""

    def __init__(
        self, execution: Execution, *, after: int, deps: ApiDependencies, caller: Caller, stream: str, most: int
    ) -> None:
        feed = deps.feeds.open(deps.executions, execution)
        every_s = deps.poll_s if deps.notices is None else sse.KEEP_ALIVE_S
        frames = sse.stream_events(feed, after=after, poll_s=every_s, sleep=self._sleep)
        super().__init__(self._check_frames(frames), media_type=sse.MEDIA_TYPE, headers=HEADERS)
        self._deps = deps
        self._execution = execution.id
        self._notice: Notice | None = None
        self._owner, self._caller = caller.owner, caller
        self._stream = stream
        self._most = most
        self._checked_at = deps.clock.now()

    async def hold(self) -> bool:
        """Count among the owner's open streams from now on; False where too many are."""
        now = self._deps.clock.now()
        return await self._deps.streams.hold(self._owner.id, self._stream, now=now, until=now + HOLD, most=self._most)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        watchers, name = self._deps.watchers, self._owner.id
        watchers[name] += 1
        try:
            async with self._follow():
                await super().__call__(scope, receive, send)
        finally:
            watchers[name] -= 1
            if not watchers[name]:
                del watchers[name]
            # however it ended: the client left, the execution did, or something broke
            await asyncio.shield(self._release())

    @asynccontextmanager
    async def _follow(self) -> AsyncIterator[None]:
        if self._deps.notices is None:
            yield
            return
        async with self._deps.notices.follow(self._execution) as self._notice:
            yield

    async def _sleep(self, seconds: float) -> None:
        """Wait so long, or until a change is told. Raise `_NotAllowedError` once the client may not read any longer."""
        if self._notice is None:
            seconds *= max(1.0, self._deps.feeds.count(self._owner.id) / POLLS_TOGETHER)
        while seconds > 0:
            await self._check_access()
            step = min(seconds, self._find_step_s())
            if self._notice is None:
                await sleep(step)
            elif await self._notice.wait(step):
                break
            seconds -= step
        await self._check_access()

    async def _check_frames(self, frames: AsyncIterator[str]) -> AsyncIterator[str]:
        """Yield `frames` while the client may read them, and the stream may be open: one that was not renewed in time may have
        lost its place."""
        due = self._deps.clock.now() + RENEWAL
        with suppress(_NotAllowedError):
            async for frame in frames:
                await self._check_access()
                if self._deps.clock.now() >= due:
                    if not await self._renew():
                        return
                    due = self._deps.clock.now() + RENEWAL
                yield frame

    async def _check_access(self) -> None:
        """Raise `_NotAllowedError` if the API key was revoked or has expired, or its person has left.

        It is read once in a while, for all streams of the key in this process, whose next reads fall together from then on.
        """
        now, deps, caller = self._deps.clock.now(), self._deps, self._caller
        if now - self._checked_at < CHECK_EVERY:
            return
        question = (caller.digest, caller.workspace)
        try:
            outcome = await deps.checks.ask(
                question, lambda: still_has_right(deps, caller, Right.READ), now=now, every=CHECK_EVERY
            )
        except UnavailableError:
            raise _NotAllowedError from None  # nobody knows; the client connects again
        self._checked_at = outcome.at
        if not outcome.answer:
            raise _NotAllowedError

    def _find_step_s(self) -> float:
        """Return in how many seconds the next check is due, where nothing happens before."""
        due = self._checked_at + CHECK_EVERY - self._deps.clock.now()
        return max(STEP_S_MIN, due.total_seconds())

    async def _renew(self) -> bool:
        try:
            return await self.hold()
        except UnavailableError:
            return True  # the read before the next frame raises it

    async def _release(self) -> None:
        try:
            async with asyncio.timeout(RELEASE_S):
                await self._deps.streams.release(self._owner.id, self._stream)
        except (UnavailableError, TimeoutError) as error:
            self._deps.tracer.line("stream.not_released", severity="WARNING", error=type(error).__name__)


async def open_event_stream(execution: Execution, *, after: int, deps: ApiDependencies, caller: Caller) -> EventStreamResponse:
    """Return the response that streams the events of `execution` numbered above `after`, counted among the owner's open
    streams.

    Raises 429 where there are as many as may be.
    """
    owner = caller.owner
    plan = deps.plans.get(owner.plan)
    most = 1 if plan is None else plan.streams
    response = EventStreamResponse(execution, after=after, deps=deps, caller=caller, stream=deps.ids.new("stream"), most=most)
    async with deps.openings_of.turn(owner.id):
        # as many in this process alone are too many: no store needs to be asked
        is_held = deps.watchers[owner.id] < most and await response.hold()
    if not is_held:
        raise TooManyRequestsError(
            f"you have {most} streams of events open, which is the most your plan allows", after_s=AGAIN_S
        )
    return response
