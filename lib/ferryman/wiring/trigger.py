"""The trigger's root: a queue to put executions into, the check of who calls, and nothing else."""

from __future__ import annotations

from ferryman.gcp.cloud_tasks import CloudTasks
from ferryman.gcp.http import Wire
from ferryman.gcp.identity import TokenCallers
from ferryman.gcp.queue import CloudTasksQueue
from ferryman.settings import Settings
from ferryman.wiring import traces


class Trigger:
    """What the trigger function is made of."""

    def __init__(self, settings: Settings) -> None:
        self.callers = TokenCallers(Wire(), settings)
        self.tracer = traces.of(settings)
        self.queue = CloudTasksQueue(CloudTasks(settings), settings, self.tracer.traceparent)
