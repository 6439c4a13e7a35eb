"""The ports of the turn under way: who is shown it as it is written, and where it is kept for everybody else."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Protocol

from ferryman.domain.conversations.live import LiveTurn
from ferryman.domain.conversations.window import WindowPart
from ferryman.domain.executions.execution import Execution


class LiveTurns(Protocol):
    """The turn under way of each execution, as far as it was scanned: stored about once a second, for who watches elsewhere.

    It is no part of the record. What it holds is old from the moment on that a turn of its number is committed.
    """

    async def show(self, execution: Execution, turn: LiveTurn | None, *, now: datetime) -> None:
        """Store the turn under way in the place of the one before, or none. Raise `StaleError` for a lost lease."""

    async def live(self, execution: str) -> LiveTurn | None:
        """Return the turn that was stored last; None where there is none."""


class Audience(Protocol):
    """Who watches one delivery as it goes on. Neither method waits or raises."""

    @property
    def has_left(self) -> bool:
        """Whether nobody watches any longer: the delivery then hands over, since its instance may be suspended."""

    def show(self, turn: LiveTurn) -> None:
        """Show the turn under way as it is now: it goes on from what was shown before, or replaces it."""

    def note_commit(self, event: int) -> None:
        """Tell that everything up to event `event` is stored."""


class DeliveryRelay(Protocol):
    """Has executions delivered by the process that talks to the model, which then tells what the model writes."""

    def deliver(self, execution: Execution) -> AsyncIterator[LiveTurn | None]:
        """Have it delivered; yield the turn under way whenever there is more of it, and None whenever something was committed.

        The end is that of the delivery: of the execution too, or of its slice; or another delivery had taken it before. Raise
        `UnavailableError` where the stream breaks. Who stops reading leaves the rest to the queue.
        """


class WindowScanner(Protocol):
    """Has a key holder scan what the model is still writing, and decide what of it may be shown."""

    async def scan_window(self, execution: Execution, texts: Sequence[str]) -> Sequence[WindowPart]:
        """Return the decided beginning of each text. Raises as `ReplyScanner` does."""
