"""The state of a deployment's queues and Firestore, as Google Cloud reports it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from ferryman.gcp.clients import GoogleClients
from ferryman.gcp.faults import translate_errors
from ferryman.gcp.halts import find_reason
from ferryman.gcp.places import Places

TASKS_MAX = 1_000
"""Tasks of a queue that are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueStatus:
    """A queue: its state by Google's name, how many tasks wait in it, and how long the oldest of those has been due."""

    name: str
    state: str
    waiting: int
    late: timedelta


@dataclass(frozen=True, slots=True)
class SwitchReading:
    """How many seconds the operator's kill switch took to be read, and whether it is on."""

    seconds: float
    on: bool


@translate_errors
class GoogleCloudExaminer:
    """Reads, and changes nothing. Raises `UnavailableError`, or google.api_core's error for what is not there."""

    def __init__(self, clients: GoogleClients, project: str, location: str) -> None:
        self._clients = clients
        self._parent = f"projects/{project}/locations/{location}/queues"

    async def queues(self, names: Sequence[str]) -> list[QueueStatus]:
        return [await self._queue(name) for name in names]

    async def _queue(self, name: str) -> QueueStatus:
        path, client, now = f"{self._parent}/{name}", self._clients.tasks(), datetime.now(UTC)
        queue = await client.get_queue(request={"name": path})
        due = []
        async for task in await client.list_tasks(request={"parent": path, "page_size": TASKS_MAX}):
            scheduled: Any = task.schedule_time  # a datetime, where its stub names the message
            due.append(scheduled.timestamp())
            if len(due) == TASKS_MAX:
                break
        late = timedelta(seconds=max(0.0, now.timestamp() - min(due))) if due else timedelta(0)
        return QueueStatus(name=name, state=queue.state.name, waiting=len(due), late=late)

    async def read_switch(self) -> SwitchReading:
        """Read the operator's kill switch, and measure how long Firestore takes for it."""
        began = time.monotonic()
        snapshot = await Places(self._clients.firestore()).locate_halt(None).get()
        seconds = time.monotonic() - began
        # as the functions read it: one that cannot be read stops everything
        return SwitchReading(seconds, find_reason([snapshot.to_dict() if snapshot.exists else None, None], None) is not None)
