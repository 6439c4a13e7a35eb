"""The port of notices: that something about an execution has changed, so that nobody asks the store again and again."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from ferryman.domain.conversations.live import LiveTurn


class Notice(Protocol):
    """One watcher of one execution."""

    @property
    def live(self) -> LiveTurn | None:
        """The turn under way as the store told it last, without a read; None where none is known."""

    async def wait(self, seconds: float) -> bool:
        """Return True once the execution or one of its calls has changed since the last wait, also where nothing may have.

        It says that a read is worth it, not what there is to see. Return False after so many seconds, or where `live` alone
        has changed.
        """


class Notices(Protocol):
    """The notices of a store. A store that cannot tell for a time has its watchers look at the pace of its settings."""

    def follow(self, execution: str) -> AbstractAsyncContextManager[Notice]:
        """Return a context in which the execution is followed; changes from its beginning on are told."""
