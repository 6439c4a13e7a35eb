"""Streams that break off, and go on: what a client has in the end, wherever that was."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ferryman.domain.conversations.position import BEGINNING, StreamPosition, parse_position
from ferryman.domain.conversations.watched import WatchedAnswer
from ferryman.serving.streams.agui import AguiProjection
from ferryman.serving.streams.frame import Frame
from ferryman.serving.streams.message import MessageProjection
from ferryman.serving.streams.numbered import NumberedProjection
from ferryman.serving.streams.projection import Projection
from ferryman.serving.streams.vercel import VercelProjection
from tests.campaigns.streams.clients import AguiClient, MessageClient, NumberedClient, StrictClient, VercelClient

HISTORY: Sequence[dict[str, Any]] = ({"id": "conv_1.1", "role": "user", "content": "Which one is it?"},)
"""What a client of AG-UI has of the conversation already."""


def _open_agui(position: StreamPosition) -> Projection:
    return AguiProjection(position, history=HISTORY)


FORMATS: Mapping[str, tuple[Callable[[StreamPosition], Projection], Callable[[], StrictClient]]] = {
    "ferryman": (NumberedProjection, NumberedClient),
    "message": (MessageProjection, MessageClient),
    "ag-ui": (_open_agui, lambda: AguiClient([*HISTORY])),
    "vercel": (VercelProjection, VercelClient),
}


def begin(name: str, states: Sequence[WatchedAnswer]) -> list[list[Frame]]:
    """Return the frames that each state brings to the watcher for whom the answer was started."""
    if name == "ag-ui":
        projection: Projection = AguiProjection(history=HISTORY, is_new=True)
        return [projection.render(state) for state in states]
    return stream(name, states)


def stream(name: str, states: Sequence[WatchedAnswer], position: StreamPosition = BEGINNING) -> list[list[Frame]]:
    """Return the frames of a format that each state brings to a watcher at `position`."""
    projection = FORMATS[name][0](position)
    return [projection.render(state) for state in states]


def read(name: str, frames: Sequence[Frame]) -> Any:
    """Return what a client has that has read all of `frames`. Raise `ViolationError` where they do not fit each other."""
    client = FORMATS[name][1]()
    for frame in frames:
        client.read(frame)
    return client.summarize()


def resume(name: str, states: Sequence[WatchedAnswer], seen: Sequence[Frame], *, later: int) -> list[Frame]:
    """Return what a client has read in the end that had read `seen`, and comes back when state `later` is there."""
    last = next((frame.id for frame in reversed(seen) if frame.id), None)
    position = BEGINNING if last is None else parse_position(last)
    assert position is not None, "every id is a position"
    return [*seen, *(frame for frames in stream(name, states[later:], position) for frame in frames)]
