"""The trigger's root: a queue to put executions into, and nothing else."""

from __future__ import annotations

from ferryman.gcp.clients import Clients
from ferryman.gcp.log import JsonLog
from ferryman.gcp.queue import CloudTasksQueue
from ferryman.ports import Queue, Tracer
from ferryman.settings import Settings


def build(settings: Settings) -> tuple[Queue, Tracer]:
    """The queue and the log."""
    return CloudTasksQueue(Clients(settings), settings), JsonLog()
