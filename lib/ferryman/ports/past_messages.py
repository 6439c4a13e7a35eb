"""The port of the search of past messages."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from ferryman.domain.conversations.past import CANDIDATES_MAX, MessageHit


class PastMessages(Protocol):
    """The words of all messages. `find` returns the newest messages of a workspace, or of one of its conversations, that have
    any of `words`."""

    async def find(
        self, words: Collection[str], *, workspace: str, conversation: str | None = None, most: int = CANDIDATES_MAX
    ) -> Sequence[MessageHit]: ...
