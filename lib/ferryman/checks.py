"""Checks: a question that many ask again and again is read once for all of them in one process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """An answer, and when it was asked for: what happened since then, it does not know."""

    at: datetime
    answer: bool


class SharedChecks:
    """The latest answer to each question. Memory is that of the questions that were asked within the last interval."""

    def __init__(self) -> None:
        self._latest: dict[Hashable, tuple[datetime, asyncio.Future[bool]]] = {}

    def __len__(self) -> int:
        """Return how many answers are kept."""
        return len(self._latest)

    async def ask(
        self, question: Hashable, read: Callable[[], Awaitable[bool]], *, now: datetime, every: timedelta
    ) -> CheckOutcome:
        """Return an answer that was asked for less than `every` ago, by whomever; `read` gives a new one. Raise as it does.

        Who stops waiting takes the answer from nobody else.
        """
        asked_at, answer = self._latest.get(question, (now - every, None))
        if answer is None or now - asked_at >= every:
            self._latest = {name: known for name, known in self._latest.items() if now - known[0] < every}
            asked_at, answer = now, asyncio.ensure_future(read())
            answer.add_done_callback(_mark_seen)
            self._latest[question] = asked_at, answer
        return CheckOutcome(asked_at, await asyncio.shield(answer))


def _mark_seen(answer: asyncio.Future[bool]) -> None:
    """Have asyncio not complain of an error that nobody waits for any longer."""
    if not answer.cancelled():
        answer.exception()
