"""Following the record of a watched execution: it is read whenever it may have changed, until the execution has ended."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress

from ferryman.domain.executions.execution import Execution
from ferryman.ports.executions import Executions
from ferryman.ports.notices import Notice, Notices
from ferryman.watching.watched_execution import WatchedExecution

QUIET_S = 15.0
"""How often the record is read, in seconds, where no notice of a change comes: a notice may be lost."""


async def follow_record(
    watched: WatchedExecution,
    execution: str,
    *,
    executions: Executions,
    notices: Notices | None,
    find_pause_s: Callable[[], float],
) -> Execution | None:
    """Publish snapshots of an execution until it has ended. Return it as it ended, None where it is deleted.

    Without `notices` of changes, the record is read every `find_pause_s()` seconds. Raise `UnavailableError`.
    """
    try:
        async with AsyncExitStack() as closing:
            notice = None
            if notices is not None:
                notice = await closing.enter_async_context(notices.follow(execution))
                taking = asyncio.ensure_future(_take_notices(watched, notice))
                closing.callback(taking.cancel)
            while True:
                if watched.read:  # the first read takes over the execution as its watcher has read it
                    watched.is_old.clear()
                watched.read = await watched.feed.refresh(watched.read)
                current = watched.feed.current
                if notice is None and watched.relay is None and current is not None and current.answer:
                    watched.take_stored(await executions.live(execution))
                watched.publish()
                if current is None or current.status.terminal:
                    return current
                with suppress(TimeoutError):
                    async with asyncio.timeout(QUIET_S if notice is not None else find_pause_s()):
                        await watched.is_old.wait()
    finally:
        watched.wake()


async def _take_notices(watched: WatchedExecution, notice: Notice) -> None:
    """Take what notices tell of an execution, until cancelled. The turn under way is in them: it needs no read."""
    while True:
        if await notice.wait(QUIET_S):
            watched.is_old.set()
        if watched.relay is None and notice.live != watched.live:
            watched.take_stored(notice.live)
            watched.publish()
