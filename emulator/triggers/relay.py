"""A relay: brings one trigger's events to its function, and tries again until it acknowledges them."""

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta

from emulator.clock import EmulatorClock
from emulator.delivery import HttpDelivery, UndeliveredError
from emulator.identity import IdentityTokens
from emulator.scheduler import Scheduler
from emulator.triggers.store import EventStore, QueuedEvent

log = logging.getLogger(__name__)

LEAST, MOST = timedelta(seconds=1), timedelta(seconds=600)
RETENTION = timedelta(hours=24)
DEADLINE = timedelta(minutes=10)
AT_ONCE = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredTrigger:
    """Whose events these are, where its function is, and as whom it is called."""

    name: str
    url: str
    caller: str


def back_off(failures: int) -> timedelta:
    """Return how long to wait after so many failures, 1 or more."""
    return min(MOST, LEAST * (1 << min(failures - 1, 10)))


class Relay:
    """One trigger's deliveries, at most 20 at once."""

    def __init__(
        self,
        trigger: RegisteredTrigger,
        *,
        store: EventStore,
        clock: EmulatorClock,
        delivery: HttpDelivery,
        tokens: IdentityTokens,
    ) -> None:
        self.trigger = trigger
        self._store = store
        self._clock = clock
        self._delivery = delivery
        self._tokens = tokens
        self._scheduler = Scheduler(clock, self._step)

    def start(self) -> None:
        """Begin; there must be a running event loop."""
        self._store.recover(self.trigger.name)
        self._scheduler.start()

    def wake(self) -> None:
        """Look at the events again: there is a new one."""
        self._scheduler.wake()

    def stop(self) -> None:
        """Stop at once; what is under way is sent again when there is a trigger of this name again."""
        self._scheduler.stop()

    async def idle(self) -> None:
        """Wait until no event is under way or could be sent now."""
        await self._scheduler.idle()

    async def close(self) -> None:
        """Stop, and wait for the end of what was under way."""
        await self._scheduler.close()

    def _step(self) -> datetime | None:
        while self._scheduler.running < AT_ONCE:
            due = self._store.next_due(self.trigger.name)
            if due is None or due > self._clock.now():
                return due
            self._scheduler.spawn(self._send(self._store.take(self.trigger.name)))
        return None

    async def _send(self, event: QueuedEvent) -> None:
        url = self.trigger.url
        identity = {"Authorization": f"Bearer {self._tokens.mint(self.trigger.caller, url)}"}
        try:
            status = await self._delivery.send(
                "POST", url, headers={**event.headers, **identity}, content=event.body, deadline=DEADLINE
            )
            why = f"HTTP status code {status}"
            acknowledged = 200 <= status < 300
        except UndeliveredError as error:
            why = str(error)
            acknowledged = False
        now = self._clock.now()
        if acknowledged:
            self._store.remove(event)
        elif now - event.created >= RETENTION:
            log.warning("event %s for %s was given up: %s", event.headers["ce-id"], self.trigger.name, why)
            self._store.remove(event)
        else:
            self._store.failed(event, now + back_off(event.failures + 1))
