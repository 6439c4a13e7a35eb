"""The trigger's root: a queue to put executions into, the check of who calls, and nothing else."""

from __future__ import annotations

from ferryman.gcp.cloud_tasks import CloudTasksClient
from ferryman.gcp.http import HttpClient
from ferryman.gcp.identity import TokenCallers
from ferryman.gcp.log import JsonLog
from ferryman.gcp.queue import CloudTasksQueue
from ferryman.settings import Settings
from ferryman.telemetry.traces import OtelTracer


class TriggerFunction:
    """What the trigger function is made of."""

    def __init__(self, settings: Settings) -> None:
        self.callers = TokenCallers(HttpClient(local=settings.local), settings)
        self.tracer = OtelTracer(JsonLog(), settings)
        self.tasks = CloudTasksClient(settings)
        self.queue = CloudTasksQueue(self.tasks, settings, self.tracer.traceparent)

    def load(self) -> None:
        """Import what a first event needs besides."""
        self.tasks.load()
        self.callers.load()

    async def warm(self) -> None:
        """Connect: what a first event would wait for."""
        await self.tasks.warm()
