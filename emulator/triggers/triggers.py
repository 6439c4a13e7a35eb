"""The triggers: which functions hear of which changes, and that none is forgotten."""

from collections.abc import Collection, Sequence
from pathlib import Path
from uuid import uuid4

from emulator.clock import Clock
from emulator.delivery import Delivery, is_local
from emulator.identity import Tokens
from emulator.storage import open_store
from emulator.triggers import event as events
from emulator.triggers.event import Change
from emulator.triggers.interest import interest, missed
from emulator.triggers.relay import RETENTION, Relay, Trigger
from emulator.triggers.store import SCHEMA, Store


class Triggers:
    """Delivers changes at least once, in no promised order; events wait in the folder `path`, in memory for None.

    What a trigger is for outlives the process; where its function is, it is told anew by `add`, and until then its
    events wait.
    """

    def __init__(self, *, path: Path | None, clock: Clock, tokens: Tokens, location: str = "us-central1") -> None:
        self._store = Store(open_store(path, "triggers", SCHEMA))
        self._clock = clock
        self._tokens = tokens
        self._location = location
        self._delivery = Delivery(clock)
        self._interests = {name: interest(event, document) for name, _, event, document in self._store.registered()}
        self._relays: dict[str, Relay] = {}
        self._started = False

    def add(self, name: str, *, event: str, document: str, url: str, caller: str) -> None:
        """Call `url` as the account `caller` on every such event, and for what still waits under this name.

        `event` is a type such as google.cloud.firestore.document.v1.created, `document` a pattern such as
        executions/{execution}. A trigger of the same name is replaced. Raises ValueError for an unknown type, a bad
        pattern, or a URL that is not on this machine.
        """
        wanted = interest(event, document)
        if not is_local(url):
            raise ValueError(f"{url!r} is not on this machine: the local cloud calls nobody else")
        self._stop(name)
        self._store.register(name, event, document, self._clock.now())
        self._interests[name] = wanted
        trigger = Trigger(name=name, url=url, caller=caller)
        self._relays[name] = Relay(trigger, store=self._store, clock=self._clock, delivery=self._delivery, tokens=self._tokens)
        if self._started:
            self._relays[name].start()

    def remove(self, name: str) -> None:
        """Note no more changes for this trigger, if there is one; what waits, waits for one of the same name."""
        self._stop(name)
        self._store.forget(name)
        self._interests.pop(name, None)

    def retain(self, names: Collection[str]) -> None:
        """Remove the triggers that have other names."""
        for name in set(self._interests) - set(names):
            self.remove(name)

    def observe(self, change: Change) -> None:
        """Keep an event for every trigger that the change concerns, before returning."""
        self._keep(change, [name for name, each in self._interests.items() if each.fits(change)])

    def catch_up(self, changes: Sequence[Change]) -> None:
        """Observe what a death came between: of `changes`, all those of the last commit, the ones not observed yet."""
        since = {name: since for name, since, _, _ in self._store.registered()}
        for change in missed(changes, self._store.heard()):
            concerned = [name for name, each in self._interests.items() if since[name] <= change.at and each.fits(change)]
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

    def _keep(self, change: Change, concerned: Sequence[str]) -> None:
        if not concerned:
            return
        body = events.body(change)
        rows = []
        for name in concerned:
            event = self._interests[name].event
            rows.append((name, events.headers(change, event=event, number=str(uuid4()), location=self._location), body))
        self._store.add(rows, self._clock.now(), heard=(change.at, change.name))
        for name in concerned:
            if name in self._relays:
                self._relays[name].wake()

    def _stop(self, name: str) -> None:
        if relay := self._relays.pop(name, None):
            relay.stop()
