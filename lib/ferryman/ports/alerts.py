"""The ports of alerts: where they are stored, and the queue that delivers them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Protocol

from ferryman.domain.credits.alert import Alert
from ferryman.domain.page import Page, Position
from ferryman.ports.queue import NOW


class Alerts(Protocol):
    """The alerts that the commits of executions create.

    `list` returns those of a workspace, the newest first, from behind `after`; with the workspace "", those of the owner's
    plan. `record` stores what became of an attempt, unless the alert is settled, and returns it as it is stored then; it raises
    KeyError for an alert that there is not. `overdue` returns the ids of those that were created before a moment and are still
    pending, the oldest first, at most `most`.
    """

    async def get(self, alert: str) -> Alert | None: ...
    async def list(self, owner: str, workspace: str, *, after: Position | None = None, most: int = 50) -> Page[Alert]: ...
    async def record(self, alert: Alert) -> Alert: ...
    async def overdue(self, *, before: datetime, most: int) -> Sequence[str]: ...


class AlertQueue(Protocol):
    """The queue of alerts. The same attempt is delivered once; a `wake_up` names one further delivery."""

    async def enqueue(self, alert: str, *, attempt: int = 0, after: timedelta = NOW, wake_up: str = "") -> None: ...


class AlertSender(Protocol):
    """Has a key holder send an alert, which reads it and its address from the store itself.

    Return how many attempts were made where it is still to be sent, None where it is settled, or there is no such alert. Raise
    `UnavailableError` where no key holder answered.
    """

    async def send(self, alert: str) -> int | None: ...
