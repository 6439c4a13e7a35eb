"""A projection: the frames of one format for one watcher, who has seen everything up to a position."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from ferryman.domain.conversations.live import LiveTurn
from ferryman.domain.conversations.position import BEGINNING, Stage, StreamPosition
from ferryman.domain.conversations.watched import WatchedAnswer
from ferryman.serving.streams.following import follow
from ferryman.serving.streams.frame import Frame
from ferryman.serving.streams.moments import Moment


class Projection(ABC):
    """What one watcher is sent; each format makes at most one frame of a moment.

    The frames depend on the position and on what is watched alone: any process makes the rest of a stream from the id of the
    last frame that its watcher has.
    """

    headers: ClassVar[Mapping[str, str]] = {}
    """What the response says of the format."""

    def __init__(self, position: StreamPosition = BEGINNING) -> None:
        self.position = position
        self._live: LiveTurn | None = None

    @property
    def is_over(self) -> bool:
        """Whether nothing follows."""
        return self.position.stage is Stage.OVER

    def render(self, watched: WatchedAnswer) -> list[Frame]:
        """Return the frames of what has happened since, and have them seen."""
        frames = []
        for moment in follow(self.position, watched, self._live):
            self.position = moment.after
            frame = self._frame(moment, watched)
            if frame is not None:
                frames.append(frame)
        self._live = watched.live or self._live
        return frames

    def _frame(self, moment: Moment, watched: WatchedAnswer) -> Frame | None:
        content = self.project(moment, watched)
        return None if content is None else Frame(str(moment.after), *content)

    @abstractmethod
    def project(self, moment: Moment, watched: WatchedAnswer) -> tuple[str, str] | None:
        """Return the type and the data of the frame of a moment, None where the format has none for it."""


def describe_usage(watched: WatchedAnswer) -> dict[str, Any]:
    """Return the tokens of all turns, as the messages of the formats count them: the cache's are part of the input."""
    usage = watched.execution.usage
    whole = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    return {
        "inputTokens": whole,
        "outputTokens": usage.output_tokens,
        "totalTokens": whole + usage.output_tokens,
        "cachedInputTokens": usage.cache_read_tokens,
        "cacheWriteInputTokens": usage.cache_write_tokens,
    }
