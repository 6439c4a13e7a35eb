"""One execution that is watched in this process: its newest snapshot, and what wakes those who wait for the next one."""

from __future__ import annotations

import asyncio

from ferryman.domain.conversations.live import LiveTurn, is_part
from ferryman.domain.conversations.watched import WatchedAnswer
from ferryman.domain.executions.execution import Status
from ferryman.feeds import Feed


class WatchedExecution:
    """An execution that is watched or relayed in this process: its newest snapshot, and the tasks that renew it."""

    def __init__(self, feed: Feed) -> None:
        self.feed = feed
        self.read = 0
        """The number of the record's last read."""
        self.watchers = 0
        self.snapshot: WatchedAnswer | None = None
        """None until the first one, and where the execution is deleted."""
        self.number = 0
        """How many snapshots there were."""
        self.live: LiveTurn | None = None
        """The turn under way, as far as it is known here."""
        self._newest: LiveTurn | None = None
        """The turn under way as it was published last."""
        self.is_old = asyncio.Event()
        """Set when the record may have changed since it was read."""
        self.relay: asyncio.Task[None] | None = None
        self.following: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()

    def take_stored(self, turn: LiveTurn | None) -> None:
        """Take the turn under way as it is stored: not where those who watch have seen more of it.

        It is stored now and then; it would void what they have seen, and they would be sent all of it again.
        """
        self.live = None if turn is not None and self._newest is not None and is_part(turn, self._newest) else turn

    def publish(self) -> None:
        """Make a snapshot of what is known, and wake all who wait for one. Before the first read nothing is."""
        feed, before = self.feed, self.snapshot
        if not feed.was_read:
            return
        snapshot = None
        if feed.current is not None:
            tickets = before.tickets if before is not None and before.tickets == feed.tickets else dict(feed.tickets)
            live = self.live if self.is_live_next() else None
            self._newest = live or self._newest
            snapshot = WatchedAnswer(execution=feed.current, steps=tuple(feed.steps), tickets=tickets, live=live)
        if self.number == 0 or snapshot != before:
            self.snapshot, self.number = snapshot, self.number + 1
            self.wake()

    def wake(self) -> None:
        """Wake all who wait for a snapshot."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def wait(self, number: int) -> None:
        """Wait for a snapshot after snapshot `number`. Raise the error that ended the reading of the record."""
        while self.number == number and self.following is not None:
            if self.following.done():
                self.following.result()
                return
            await self._changed.wait()

    def is_live_next(self) -> bool:
        """Tell whether the turn under way is the one that follows the turns of the record, as far as they were read."""
        feed, live = self.feed, self.live
        if live is None or feed.current is None or feed.current.status is not Status.RUNNING:
            return False
        return live.event == feed.current.events + 1 and all(step.event < live.event for step in feed.steps[-1:])
