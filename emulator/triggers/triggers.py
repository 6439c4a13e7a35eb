"""The triggers: which functions hear of which changes, and that none is forgotten."""

from pathlib import Path
from uuid import uuid4

from emulator.clock import Clock
from emulator.delivery import Delivery, is_local
from emulator.identity import Tokens
from emulator.storage import open_store
from emulator.triggers import event as events
from emulator.triggers.event import Change
from emulator.triggers.pattern import compiled
from emulator.triggers.relay import RETENTION, Relay, Trigger
from emulator.triggers.store import SCHEMA, Store

KINDS = {events.PREFIX + kind for kind in ("created", "updated", "deleted", "written")}


class Triggers:
    """Delivers changes at least once, in no promised order; events wait in the folder `path`, in memory for None."""

    def __init__(self, *, path: Path | None, clock: Clock, tokens: Tokens, location: str = "us-central1") -> None:
        self._store = Store(open_store(path, "triggers", SCHEMA))
        self._clock = clock
        self._tokens = tokens
        self._location = location
        self._delivery = Delivery(clock)
        self._relays: dict[str, Relay] = {}
        self._started = False

    def add(self, name: str, *, event: str, document: str, url: str, caller: str) -> None:
        """Call `url` as the account `caller` on every such event, and for what still waits under this name.

        `event` is a type such as google.cloud.firestore.document.v1.created, `document` a pattern such as
        executions/{execution}. A trigger of the same name is replaced. Raises ValueError for an unknown type, a bad
        pattern, or a URL that is not on this machine.
        """
        if event not in KINDS:
            raise ValueError(f"{event!r} is not one of {', '.join(sorted(KINDS))}")
        if not is_local(url):
            raise ValueError(f"{url!r} is not on this machine: the local cloud calls nobody else")
        trigger = Trigger(name=name, event=event, documents=compiled(document), url=url, caller=caller)
        self.remove(name)
        self._relays[name] = Relay(trigger, store=self._store, clock=self._clock, delivery=self._delivery, tokens=self._tokens)
        if self._started:
            self._relays[name].start()

    def remove(self, name: str) -> None:
        """Note no more changes for this trigger, if there is one; what waits, waits for one of the same name."""
        if relay := self._relays.pop(name, None):
            relay.stop()

    def observe(self, change: Change) -> None:
        """Keep an event for every trigger that the change concerns, before returning."""
        kinds = events.kinds(change)
        path = events.path(change)
        concerned = [
            relay for relay in self._relays.values() if relay.trigger.event in kinds and relay.trigger.documents.fullmatch(path)
        ]
        if not concerned:
            return
        body = events.body(change)
        rows = []
        for relay in concerned:
            trigger = relay.trigger
            headers = events.headers(change, event=trigger.event, number=str(uuid4()), location=self._location)
            rows.append((trigger.name, headers, body))
        self._store.add(rows, self._clock.now())
        for relay in concerned:
            relay.wake()

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
