"""The port of notices: that something about an execution has changed, so that nobody asks the store again and again."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Protocol


class Notice(Protocol):
    """One watcher of one execution."""

    async def wait(self, seconds: float) -> bool:
        """Return True once the execution or one of its calls has changed since the last wait; False after so many seconds.

        Also where nothing may have changed: it says that looking is worth it, not what there is to see.
        """


class Notices(Protocol):
    """The notices of a store. A store that cannot tell for a time has its watchers look at the pace of its settings."""

    def follow(self, execution: str) -> AbstractAsyncContextManager[Notice]:
        """Return a context in which the execution is followed; changes from its beginning on are told."""
