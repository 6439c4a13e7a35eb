"""The trigger's root: a queue to put executions into, the check of who calls, and nothing else."""

from __future__ import annotations

from ferryman.gcp.clients import Clients
from ferryman.gcp.http import Wire
from ferryman.gcp.identity import TokenCallers
from ferryman.gcp.log import JsonLog
from ferryman.gcp.queue import CloudTasksQueue
from ferryman.settings import Settings


class Trigger:
    """What the trigger function is made of."""

    def __init__(self, settings: Settings) -> None:
        self.callers = TokenCallers(Wire(), settings)
        self.queue = CloudTasksQueue(Clients(settings), settings)
        self.tracer = JsonLog()
