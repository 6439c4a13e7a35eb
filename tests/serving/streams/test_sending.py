"""Sending: frames as they come, and a comment where nothing comes for as long as proxies wait."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from ferryman.domain.conversations.watched import WatchedAnswer
from ferryman.domain.executions.execution import Status
from ferryman.serving.streams.frame import KEEP_ALIVE
from ferryman.serving.streams.message import MessageProjection
from ferryman.serving.streams.sending import WatchedState, send_frames
from tests.builders import START, build_execution, build_step

QUEUED = WatchedAnswer(execution=build_execution(answer=2, question=1, conversation="conv_1"))
RUNNING = WatchedAnswer(execution=build_execution(status=Status.RUNNING, started_at=START))
ENDED = WatchedAnswer(
    execution=build_execution(status=Status.COMPLETED, started_at=START, completed_at=START, events=3), steps=[build_step()]
)


class States:
    """States to send; `is_closed` once nobody reads them any longer."""

    def __init__(self, *states: WatchedState) -> None:
        self._states = states
        self.is_closed = False

    async def read(self) -> AsyncGenerator[WatchedState, None]:
        try:
            for state in self._states:
                yield state
        finally:
            self.is_closed = True


async def send(*states: WatchedState) -> list[str]:
    """Return for each part that is sent whether it is a comment, or a frame."""
    parts = send_frames(MessageProjection(), States(*states).read(), quiet_s=15.0)
    return ["comment" if part == KEEP_ALIVE else "frame" async for part in parts]


async def test_a_comment_comes_after_as_many_quiet_seconds() -> None:
    assert await send(7.0, 7.0) == []
    assert await send(7.0, 8.0) == ["comment"]


async def test_the_seconds_are_counted_again_after_a_comment() -> None:
    assert await send(15.0, 14.0, 1.0) == ["comment", "comment"]
    assert await send(15.0, 14.0) == ["comment"]


async def test_the_seconds_are_counted_again_after_a_frame() -> None:
    assert await send(14.0, QUEUED, 14.0) == ["frame"]


async def test_a_state_without_a_frame_is_quiet() -> None:
    assert await send(QUEUED, 14.0, QUEUED, 1.0) == ["frame", "comment"]


async def test_what_is_watched_is_left_at_the_end() -> None:
    states = States(ENDED, RUNNING)
    async for _ in send_frames(MessageProjection(), states.read()):
        pass
    assert states.is_closed
