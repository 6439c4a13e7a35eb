"""Event streams: each counts among those its owner has open, from its first byte until its client or its process is gone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from datetime import timedelta

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from ferryman.composition.api import ApiDependencies
from ferryman.domain.executions.execution import Execution
from ferryman.domain.owners.stream import HOLD, RENEWAL
from ferryman.domain.workspaces.member import Right
from ferryman.ports.errors import UnavailableError
from ferryman.serving.api.errors import TooManyRequestsError
from ferryman.serving.api.revocation import still_has_right
from ferryman.serving.api.rights import Caller
from ferryman.serving.streams.frame import KEEP_ALIVE_S, MEDIA_TYPE
from ferryman.serving.streams.projection import Projection
from ferryman.serving.streams.sending import WatchedState, send_frames

AGAIN_S = 5
"""After how many seconds it is worth another try where too many are open."""

RELEASE_S = 5.0
"""How many seconds the end of a stream may take to be stored; where that fails, it counts until it expires."""

HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

CHECK_EVERY = timedelta(seconds=0.5)
"""How often it is read whether the client may still read: a stream ends within a second of a revocation."""


STEP_S_MIN = 0.01
"""A check that is due within less is not worth a wait of its own."""


class _NotAllowedError(Exception):
    """The client may not read any longer."""


class EventStreamResponse(StreamingResponse):
    """The frames of a stream. Made by `open_event_stream`."""

    def __init__(
        self,
        execution: Execution,
        projection: Projection,
        *,
        deps: ApiDependencies,
        caller: Caller,
        stream: str,
        most: int,
        prefix: str,
    ) -> None:
        self._frames = self._check_frames(send_frames(projection, self._watch(execution), prefix=prefix, quiet_s=KEEP_ALIVE_S))
        super().__init__(self._frames, media_type=MEDIA_TYPE, headers={**HEADERS, **projection.headers})
        self._deps = deps
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
            await super().__call__(scope, receive, send)
        finally:
            watchers[name] -= 1
            if not watchers[name]:
                del watchers[name]
            # however it ended: the client left, the execution did, or something broke
            await asyncio.shield(self._close())

    async def _watch(self, execution: Execution) -> AsyncGenerator[WatchedState, None]:
        """Yield what is watched whenever it has changed, and the seconds that pass between.

        Raise `_NotAllowedError` once the client may not read any longer.
        """
        async with aclosing(self._deps.hub.watch(execution)) as answers:  # type: ignore[type-var] # a generator, as all of them are
            waiting = asyncio.ensure_future(anext(answers, None))
            try:
                while True:
                    step = self._find_step_s()
                    await asyncio.wait({waiting}, timeout=step)
                    await self._check_access()
                    if not waiting.done():
                        yield step
                        continue
                    answer = waiting.result()
                    if answer is not None and answer.execution.status.terminal:
                        await self._check_access(ended=execution.id)  # what ends may end because its person has left
                    if answer is None:
                        return
                    yield answer
                    waiting = asyncio.ensure_future(anext(answers, None))
            finally:
                waiting.cancel()
                await asyncio.gather(waiting, return_exceptions=True)

    async def _check_frames(self, frames: AsyncGenerator[str, None]) -> AsyncGenerator[str, None]:
        """Yield `frames` while the client may read them, and the stream may be open: one that was not renewed in time may have
        lost its place."""
        due = self._deps.clock.now() + RENEWAL
        with suppress(_NotAllowedError):
            async with aclosing(frames):
                async for frame in frames:
                    await self._check_access()
                    if self._deps.clock.now() >= due:
                        if not await self._renew():
                            return
                        due = self._deps.clock.now() + RENEWAL
                    yield frame

    async def _check_access(self, *, ended: str | None = None) -> None:
        """Raise `_NotAllowedError` if the API key was revoked or has expired, or its person has left.

        It is read every `CHECK_EVERY`, for all streams of the key in this process, whose next reads fall together from then on.
        Once an execution has `ended` it is read again, for all who watch that one: so the answer is no older than the end.
        """
        now, deps, caller = self._deps.clock.now(), self._deps, self._caller
        if ended is None and now - self._checked_at < CHECK_EVERY:
            return
        question = (caller.digest, caller.workspace, ended)
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

    async def _close(self) -> None:
        await self._frames.aclose()
        await self._release()

    async def _release(self) -> None:
        try:
            async with asyncio.timeout(RELEASE_S):
                await self._deps.streams.release(self._owner.id, self._stream)
        except (UnavailableError, TimeoutError) as error:
            self._deps.tracer.line("stream.not_released", severity="WARNING", error=type(error).__name__)


async def open_event_stream(
    execution: Execution, projection: Projection, *, deps: ApiDependencies, caller: Caller, prefix: str = ""
) -> EventStreamResponse:
    """Return the response that streams what `projection` makes of `execution`, counted among the owner's open streams.

    Raises 429 where there are as many as may be.
    """
    owner = caller.owner
    plan = deps.plans.get(owner.plan)
    most = 1 if plan is None else plan.streams
    named = deps.ids.new("stream")
    response = EventStreamResponse(execution, projection, deps=deps, caller=caller, stream=named, most=most, prefix=prefix)
    async with deps.openings_of.turn(owner.id):
        # as many in this process alone are too many: no store needs to be asked
        is_held = deps.watchers[owner.id] < most and await response.hold()
    if not is_held:
        raise TooManyRequestsError(
            f"you have {most} streams of events open, which is the most your plan allows", after_s=AGAIN_S
        )
    return response
