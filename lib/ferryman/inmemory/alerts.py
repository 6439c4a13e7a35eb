"""Alerts in memory, and the queue that delivers them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from ferryman.domain.credits.alert import Alert
from ferryman.domain.delivery import AlertState
from ferryman.domain.page import Page, Position
from ferryman.inmemory.memory import MemoryStore
from ferryman.ports.queue import NOW


class MemoryAlerts(MemoryStore):
    """`ports.Alerts`."""

    async def get(self, alert: str) -> Alert | None:
        return self._memory.alerts.get(alert)

    async def list(self, owner: str, workspace: str, *, after: Position | None = None, most: int = 50) -> Page[Alert]:
        known = [item for item in self._memory.alerts.values() if (item.owner, item.workspace) == (owner, workspace)]
        places = sorted(((Position(item.created_at, item.id), item) for item in known), reverse=True, key=lambda pair: pair[0])
        behind = [pair for pair in places if after is None or pair[0] < after]
        end = behind[most - 1][0] if len(behind) > most else None
        return Page(items=tuple(item for _, item in behind[:most]), end=end)

    async def record(self, alert: Alert) -> Alert:
        stored = self._memory.alerts[alert.id]
        if stored.state is not AlertState.PENDING or stored.attempts >= alert.attempts:
            return stored
        self._memory.alerts[alert.id] = alert
        return alert

    async def overdue(self, *, before: datetime, most: int) -> Sequence[str]:
        late = [item for item in self._memory.alerts.values() if item.state is AlertState.PENDING and item.created_at < before]
        return [item.id for item in sorted(late, key=lambda item: (item.created_at, item.id))][:most]


@dataclass(frozen=True, slots=True)
class QueuedAlert:
    """An attempt to send an alert that is to be delivered `after` this time."""

    alert: str
    attempt: int
    after: timedelta
    wake_up: str = ""


class MemoryAlertQueue:
    """`ports.AlertQueue`. A name that was ever used is not used again, taken or not, as in Cloud Tasks."""

    def __init__(self) -> None:
        self._named: set[tuple[str, int, str]] = set()
        self.waiting: list[QueuedAlert] = []

    async def enqueue(self, alert: str, *, attempt: int = 0, after: timedelta = NOW, wake_up: str = "") -> None:
        if (alert, attempt, wake_up) not in self._named:
            self._named.add((alert, attempt, wake_up))
            self.waiting.append(QueuedAlert(alert, attempt, after, wake_up))
