"""The hub of one process: everyone who watches an execution here gets the same snapshots, read once for all of them.

What the model writes comes by a relay where this process has the execution delivered; otherwise it is followed in the store,
which has it about once a second. A snapshot replaces all before it: who reads slowly misses those between.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing, suppress
from datetime import timedelta

from ferryman.domain.conversations.live import LiveTurn
from ferryman.domain.conversations.watched import WatchedAnswer
from ferryman.domain.executions.execution import Execution, Status
from ferryman.feeds import Feed
from ferryman.ports.errors import UnavailableError
from ferryman.ports.executions import Executions
from ferryman.ports.live import DeliveryRelay
from ferryman.ports.log import Log
from ferryman.ports.notices import Notice, Notices
from ferryman.ports.queue import Queue

RELAYS_MAX = 64
"""How many deliveries one process relays at once; the queue has the others delivered."""

RELAYED_FIRST = timedelta(seconds=5)
"""How long the queue leaves an answer alone that is relayed: as long as an instance may take to start."""

QUIET_S = 15.0
"""How often the record is read, in seconds, where no change of it is told: telling may fail."""

POLLS_TOGETHER = 4
"""Where nothing tells of changes, up to so many watched executions of one owner are read every `poll_s` seconds each; more are
read less often, so that together they are read as often."""


class WatchedExecution:
    """An execution that is watched in this process, or relayed to it: its newest snapshot, and the tasks that make it."""

    def __init__(self, feed: Feed) -> None:
        self.feed = feed
        self.read = 0
        """The number of the record's last read."""
        self.watchers = 0
        self.snapshot: WatchedAnswer | None = None
        self.number = 0
        """How many snapshots there were."""
        self.live: LiveTurn | None = None
        self.is_old = asyncio.Event()
        """That the record may have changed since it was read."""
        self.relay: asyncio.Task[None] | None = None
        self.following: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()

    def publish(self) -> None:
        """Make a snapshot of what is known, and wake all who wait for one."""
        feed, before = self.feed, self.snapshot
        snapshot = None
        if feed.current is not None:
            tickets = before.tickets if before is not None and before.tickets == feed.tickets else dict(feed.tickets)
            live = self.live if _is_next(feed, self.live) else None
            snapshot = WatchedAnswer(execution=feed.current, steps=tuple(feed.steps), tickets=tickets, live=live)
        if self.number == 0 or snapshot != before:
            self.snapshot, self.number = snapshot, self.number + 1
            self.wake()

    def wake(self) -> None:
        """Wake all who wait for a snapshot."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def wait(self, number: int) -> None:
        """Wait for a snapshot after snapshot `number`. Raise what ended the reading of the record."""
        while self.number == number and self.following is not None:
            if self.following.done():
                self.following.result()
                return
            await self._changed.wait()


class Hub:
    """The executions that are watched in one process. `notices` tell of changes; without them, the record is read every
    `poll_s` seconds. A `relay` has answers delivered that nobody works on yet; the `queue` does where it breaks."""

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
        self._executions, self._queue, self._log = executions, queue, log
        self._notices, self._source = notices, relay
        self._poll_s = poll_s
        self._watched: dict[str, WatchedExecution] = {}

    async def watch(self, execution: Execution) -> AsyncIterator[WatchedAnswer]:
        """Yield the newest snapshot whenever there is another, until the execution has ended, or is deleted.

        An answer of a conversation that nobody has begun is begun by this. Raise `UnavailableError` where it cannot be read.
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
        """Have an answer that was just asked for delivered, and relay what the model writes to who watches it here.

        Return whether that is done: the queue's own delivery is then for the case that it fails.
        """
        watched = self._open(execution)
        self._begin(watched, execution)
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
        self._begin(watched, execution)
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

    def _begin(self, watched: WatchedExecution, execution: Execution) -> None:
        """Have an answer delivered that waits for it. It is relayed to its end, even where nobody watches it any longer."""
        if self._source is None or watched.relay is not None or execution.status is not Status.QUEUED or not execution.answer:
            return
        if sum(item.relay is not None for item in self._watched.values()) < RELAYS_MAX:
            watched.relay = asyncio.ensure_future(self._relay(self._source, watched, execution))

    async def _relay(self, source: DeliveryRelay, watched: WatchedExecution, execution: Execution) -> None:
        try:
            async with aclosing(source.deliver(execution)) as turns:  # type: ignore[type-var] # a generator, as all of them are
                async for turn in turns:
                    if turn is not None:
                        watched.live = turn
                    if _is_next(watched.feed, watched.live):
                        watched.publish()
                    else:
                        watched.is_old.set()
        except UnavailableError as error:
            self._log.line("relay.broken", execution=execution.id, reason=str(error), severity="WARNING")
            with suppress(UnavailableError):  # its own task comes anyway
                await self._queue.enqueue(execution.id, slice=execution.slice, wake_up="relay")
        finally:
            watched.relay, watched.live = None, None
            watched.is_old.set()
            self._forget(watched, execution.id)

    async def _follow(self, watched: WatchedExecution, execution: str) -> None:
        """Keep the snapshot of an execution as new as its record, until it has ended."""
        try:
            async with AsyncExitStack() as closing:
                notice = None
                if self._notices is not None:
                    notice = await closing.enter_async_context(self._notices.follow(execution))
                    telling = asyncio.ensure_future(_take_notice(watched, notice))
                    closing.callback(telling.cancel)
                while True:
                    if watched.read:  # a first look takes over what its watcher has read of the execution
                        watched.is_old.clear()
                    watched.read = await watched.feed.refresh(watched.read)
                    current = watched.feed.current
                    if notice is None and watched.relay is None and current is not None and current.answer:
                        watched.live = await self._executions.live(execution)
                    watched.publish()
                    if current is None or current.status.terminal:
                        break
                    with suppress(TimeoutError):
                        async with asyncio.timeout(QUIET_S if notice is not None else self._find_pause_s(watched)):
                            await watched.is_old.wait()
        finally:
            watched.wake()
        if current is not None:
            self._begin_next(current)

    def _find_pause_s(self, watched: WatchedExecution) -> float:
        return self._poll_s * max(1.0, self.count(watched.feed.owner) / POLLS_TOGETHER)

    def _begin_next(self, ended: Execution) -> None:
        """Have the next answer of a conversation delivered, where it is watched here."""
        for watched in [*self._watched.values()]:
            current = watched.feed.current
            if current is not None and ended.answer and current.conversation == ended.conversation:
                self._begin(watched, current)


async def _take_notice(watched: WatchedExecution, notice: Notice) -> None:
    """Note what is told of an execution, until cancelled: of the turn under way without a read."""
    while True:
        if await notice.wait(QUIET_S):
            watched.is_old.set()
        if watched.relay is None and notice.live != watched.live:
            watched.live = notice.live
            watched.publish()


def _is_next(feed: Feed, live: LiveTurn | None) -> bool:
    """Tell whether a turn under way is the one that follows what was read of the record."""
    if live is None or feed.current is None or feed.current.status is not Status.RUNNING:
        return False
    return live.event == feed.current.events + 1 and all(step.event < live.event for step in feed.steps[-1:])
