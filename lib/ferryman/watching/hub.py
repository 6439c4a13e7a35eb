"""The hub of one process: who watches which execution."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from ferryman.domain.conversations.watched import WatchedAnswer
from ferryman.domain.executions.execution import Execution
from ferryman.feeds import Feed
from ferryman.ports.executions import Executions
from ferryman.ports.live import DeliveryRelay
from ferryman.ports.log import Log
from ferryman.ports.notices import Notices
from ferryman.ports.queue import Queue
from ferryman.watching.following import follow_record
from ferryman.watching.relays import Relays
from ferryman.watching.watched_execution import WatchedExecution

POLLS_TOGETHER = 4
"""Without notices, up to this many watched executions of one owner are read every `poll_s` seconds each; more are read less
often, so that all of them together cost as many reads."""


class Hub:
    """The executions that are watched in one process.

    `notices` tell of changes; without them, the record is read every `poll_s` seconds. A `relay` has answers delivered that
    nobody works on yet; where it breaks, the `queue` does.
    """

    def __init__(
        self,
        executions: Executions,
        queue: Queue,
        log: Log,
        *,
        notices: Notices | None,
        relay: DeliveryRelay | None = None,
        poll_s: float,
    ) -> None:
        self._executions, self._notices, self._poll_s = executions, notices, poll_s
        self._relays = Relays(relay, queue, log, forget=self._forget)
        self._watched: dict[str, WatchedExecution] = {}

    async def watch(self, execution: Execution) -> AsyncIterator[WatchedAnswer]:
        """Yield the newest snapshot whenever there is another, until the execution has ended, or is deleted.

        An answer of a conversation that nobody works on yet is delivered. Raise `UnavailableError` where it cannot be read.
        """
        watched, number = self._join(execution), 0
        try:
            while True:
                await watched.wait(number)
                snapshot, number = watched.snapshot, watched.number
                if snapshot is None:
                    return
                yield snapshot
                if snapshot.execution.status.terminal:
                    return
        finally:
            self._leave(watched, execution.id)

    def count(self, owner: str) -> int:
        """Return how many executions of `owner` are watched."""
        return sum(item.feed.owner == owner for item in self._watched.values() if item.watchers)

    def begin(self, execution: Execution) -> bool:
        """Have the answer to a new question delivered, and relay what the model writes to those who watch it here.

        Return whether this is done: the queue's own delivery is then only for the case that it fails.
        """
        watched = self._open(execution)
        self._relays.begin(watched, execution)
        self._forget(watched, execution.id)
        return watched.relay is not None

    def _open(self, execution: Execution) -> WatchedExecution:
        watched = self._watched.get(execution.id)
        if watched is None:
            watched = self._watched[execution.id] = WatchedExecution(Feed(self._executions, execution))
        return watched

    def _join(self, execution: Execution) -> WatchedExecution:
        watched = self._open(execution)
        watched.watchers += 1
        if watched.following is None or watched.following.done():
            watched.following = asyncio.ensure_future(self._follow(watched, execution.id))
        self._relays.begin(watched, execution)
        return watched

    def _leave(self, watched: WatchedExecution, execution: str) -> None:
        watched.watchers -= 1
        if not watched.watchers and watched.following is not None:
            watched.following.cancel()
            watched.following = None
        self._forget(watched, execution)

    def _forget(self, watched: WatchedExecution, execution: str) -> None:
        if not watched.watchers and watched.relay is None:
            self._watched.pop(execution, None)

    async def _follow(self, watched: WatchedExecution, execution: str) -> None:
        ended = await follow_record(
            watched,
            execution,
            executions=self._executions,
            notices=self._notices,
            find_pause_s=lambda: self._find_pause_s(watched.feed.owner),
        )
        if ended is not None:
            self._begin_next(ended)

    def _find_pause_s(self, owner: str) -> float:
        return self._poll_s * max(1.0, self.count(owner) / POLLS_TOGETHER)

    def _begin_next(self, ended: Execution) -> None:
        """Have the next answer of a conversation delivered, where it is watched here."""
        for watched in [*self._watched.values()]:
            current = watched.feed.current
            if current is not None and ended.answer and current.conversation == ended.conversation:
                self._relays.begin(watched, current)
