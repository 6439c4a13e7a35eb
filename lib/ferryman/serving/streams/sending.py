"""Sending: the frames of one watcher as text, with a comment where nothing happens for a while."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from ferryman.domain.conversations.watched import WatchedAnswer
from ferryman.serving.streams.frame import KEEP_ALIVE, KEEP_ALIVE_S
from ferryman.serving.streams.projection import Projection

WatchedState = WatchedAnswer | float
"""What is watched as it is now, or for how many seconds more nothing has happened."""


async def send_frames(
    projection: Projection, states: AsyncGenerator[WatchedState, None], *, prefix: str = "", quiet_s: float = KEEP_ALIVE_S
) -> AsyncGenerator[str, None]:
    """Yield the frames that each of `states` brings, until the last one; `prefix` comes before every id.

    A comment follows after `quiet_s` seconds without a frame.
    """
    silent_s = 0.0
    async with aclosing(states):
        async for state in states:
            if isinstance(state, WatchedAnswer):
                for frame in projection.render(state):
                    yield frame.write(prefix)
                    silent_s = 0.0
                if state.execution.status.terminal:
                    return
                continue
            silent_s += state
            if silent_s >= quiet_s:
                yield KEEP_ALIVE
                silent_s = 0.0
