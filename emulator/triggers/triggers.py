"""Triggers: functions that are called for changes of documents, at least once each (an outbox on disk)."""

from collections.abc import Collection, Sequence
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

from emulator.clock import EmulatorClock
from emulator.delivery import HttpDelivery, is_local
from emulator.identity import IdentityTokens
from emulator.storage import open_store
from emulator.triggers import event as events
from emulator.triggers.event import WatchedChange
from emulator.triggers.interest import find_missed, read_interest
from emulator.triggers.relay import RETENTION, RegisteredTrigger, Relay
from emulator.triggers.store import SCHEMA, EventStore


class Triggers:
    """Delivers changes at least once, in no promised order; events wait in the folder `path`, in memory for None.

    Each is delivered `latency` after its commit. The event and pattern of a trigger outlive the process; its function's
    address does not: `add` sets it again, and until then its events wait.
    """

    def __init__(
        self,
        *,
        path: Path | None,
        clock: EmulatorClock,
        tokens: IdentityTokens,
        location: str = "us-central1",
        latency: timedelta = timedelta(0),
    ) -> None:
        self._store = EventStore(open_store(path, "triggers", SCHEMA))
        self._clock = clock
        self._tokens = tokens
        self._location = location
        self._latency = latency
        self._delivery = HttpDelivery(clock)
        self._interests = {name: read_interest(event, document) for name, _, event, document in self._store.registered()}
        self._relays: dict[str, Relay] = {}
        self._started = False

    def add(self, name: str, *, event: str, document: str, url: str, caller: str) -> None:
        """Call `url` as the account `caller` on every such event, and for what still waits under this name.

        `event` is a type such as google.cloud.firestore.document.v1.created, `document` a pattern such as
        executions/{execution}. A trigger of the same name is replaced. Raise ValueError for an unknown type, a bad
        pattern, or a URL that is not on this machine.
        """
        required = read_interest(event, document)
        if not is_local(url):
            raise ValueError(f"{url!r} is not on this machine: the local cloud calls nobody else")
        self._stop(name)
        self._store.register(name, event, document, self._clock.now())
        self._interests[name] = required
        trigger = RegisteredTrigger(name=name, url=url, caller=caller)
        self._relays[name] = Relay(trigger, store=self._store, clock=self._clock, delivery=self._delivery, tokens=self._tokens)
        if self._started:
            self._relays[name].start()

    def remove(self, name: str) -> None:
        """Stop recording changes for this trigger, if there is one; its events wait for one of the same name."""
        self._stop(name)
        self._store.forget(name)
        self._interests.pop(name, None)

    def retain(self, names: Collection[str]) -> None:
        """Remove the triggers that have other names."""
        for name in set(self._interests) - set(names):
            self.remove(name)

    def observe(self, change: WatchedChange) -> None:
        """Keep an event for every trigger that the change concerns, before returning."""
        self._keep(change, [name for name, interest in self._interests.items() if interest.fits(change)])

    def catch_up(self, changes: Sequence[WatchedChange]) -> None:
        """Observe what a death came between: of `changes`, all those of the last commit, the ones not observed yet."""
        since = {name: since for name, since, _, _ in self._store.registered()}
        for change in find_missed(changes, self._store.heard()):
            concerned = [
                name for name, interest in self._interests.items() if since[name] <= change.at and interest.fits(change)
            ]
            self._keep(change, concerned)

    async def start(self) -> None:
        """Begin to deliver, and again what was under way when the last process died."""
        self._store.expire(self._clock.now() - RETENTION)
        self._started = True
        for relay in self._relays.values():
            relay.start()

    async def idle(self) -> None:
        """Wait until no event is under way or could be sent now."""
        for relay in list(self._relays.values()):
            await relay.idle()

    async def close(self) -> None:
        """Stop delivering; close connections and file. What is under way is sent again after the next start."""
        for relay in self._relays.values():
            await relay.close()
        await self._delivery.close()
        self._store.close()

    def _keep(self, change: WatchedChange, concerned: Sequence[str]) -> None:
        if not concerned:
            return
        body = events.body(change)
        rows = []
        for name in concerned:
            event = self._interests[name].event
            rows.append((name, events.headers(change, event=event, number=str(uuid4()), location=self._location), body))
        now = self._clock.now()
        self._store.add(rows, now, due=now + self._latency, heard=(change.at, change.name))
        for name in concerned:
            if name in self._relays:
                self._relays[name].wake()

    def _stop(self, name: str) -> None:
        if relay := self._relays.pop(name, None):
            relay.stop()
