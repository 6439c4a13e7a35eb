"""Positions in the stream of an answer: each frame has one as its id, and exactly what follows the frame follows from it.

A position is made of what is stored alone: the number of an event, and how far a watcher is in what comes before the next one.
So whichever process a watcher comes back to can go on from there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from ferryman.domain.conversations.live import LivePosition, locate_end

POSITION_CHARACTERS_MAX = 64
_POSITION = re.compile(
    r"(?P<event>[0-9]{1,9})(?:"
    r"-(?P<block>[0-9]{1,4})-(?P<offset>[0-9]{1,9})-(?P<digest>[0-9a-f]{12})"
    r"(?:-g(?P<generation>[0-9]{1,6}))?(?:-c(?P<call>[0-9]{1,4}))?(?P<is_ended>-e)?"
    r"|-k(?P<calls>[0-9]{1,4})|-(?P<stage>[a-z]))?",
    re.ASCII,
)


class Stage(StrEnum):
    """Where a watcher is between an event and the next one, other than within a turn or among the calls of one."""

    EVENT = ""
    """Nothing after the event was seen."""

    QUEUED = "b"
    """The answer is waited for."""

    STEP_CLOSED = "z"
    """The turn before, with its calls, is closed."""

    THINKING = "t"
    """The model is asked for the turn that follows."""

    OUTPUT_CLOSED = "y"
    """The closing text that no turn holds is closed."""

    FAILURE = "x"
    """Why the execution failed is known."""

    OVER = "d"
    """The end of the stream was seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamPosition:
    """What a watcher has seen: every event up to `event`, and of what follows as much as the rest says.

    `live` is the place in the turn that follows, and None outside of one. `generation` counts how often what this watcher had
    seen of that turn was replaced. `call` tells the number of the call, from 0, whose arguments the block holds; None for a
    text. `is_ended` tells that the end of the block was seen. `calls` are how many of the calls of the turn whose event is
    `event` were seen with their arguments.
    """

    event: int = 0
    stage: Stage = Stage.EVENT
    calls: int = 0
    live: LivePosition | None = None
    generation: int = 0
    call: int | None = None
    is_ended: bool = False

    @property
    def is_at_start(self) -> bool:
        """Whether nothing of the turn that follows was seen, or of it since it was replaced."""
        return self.live == START_OF_TURN

    def __str__(self) -> str:
        """Return the id of the frame: at most `POSITION_CHARACTERS_MAX` characters."""
        if self.live is None:
            detail = f"k{self.calls}" if self.calls else self.stage.value
            return f"{self.event}-{detail}" if detail else str(self.event)
        generation = f"-g{self.generation}" if self.generation else ""
        call = "" if self.call is None else f"-c{self.call}"
        place = f"{self.live.block}-{self.live.offset}-{self.live.digest}"
        return f"{self.event}-{place}{generation}{call}{'-e' if self.is_ended else ''}"


START_OF_TURN = locate_end(())
BEGINNING = StreamPosition()


def parse_position(text: str) -> StreamPosition | None:
    """Return the position that an id of a frame (`Last-Event-ID`) names; None where it is none."""
    match = _POSITION.fullmatch(text)
    if match is None:
        return None
    event, stage, calls = int(match["event"]), match["stage"], match["calls"]
    if stage is not None and stage not in list(Stage):
        return None
    if match["block"] is None:
        return StreamPosition(event=event, stage=Stage(stage or ""), calls=int(calls or 0))
    return StreamPosition(
        event=event,
        live=LivePosition(int(match["block"]), int(match["offset"]), match["digest"]),
        generation=int(match["generation"] or 0),
        call=None if match["call"] is None else int(match["call"]),
        is_ended=match["is_ended"] is not None,
    )
