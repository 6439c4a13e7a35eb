"""What may be asked about tasks: to create, get, list, delete and run them."""

import secrets
from typing import Any

from google.cloud import tasks_v2
from google.protobuf.empty_pb2 import Empty
from grpc import StatusCode

from emulator import rpc
from emulator.clock import EmulatorClock
from emulator.rpc import RpcError
from emulator.tasks import check
from emulator.tasks.queues import Queues
from emulator.tasks.running import RunningQueues
from emulator.tasks.store import Task, TaskStore

PAGE = 1000
View = tasks_v2.Task.View
Page = tasks_v2.ListTasksResponse.pb()


class QueuedTasks:
    """Each method takes and returns the service's own messages, and raises RpcError."""

    def __init__(self, store: TaskStore, clock: EmulatorClock, running: RunningQueues, queues: Queues) -> None:
        self._store = store
        self._clock = clock
        self._running = running
        self._queues = queues

    def create(self, request: Any) -> Any:
        self._queues.find(request.parent)
        now = self._clock.now()
        task = Task()
        task.CopyFrom(request.task)
        check.task(task, request.parent, now)
        task.name = task.name or f"{request.parent}/tasks/{secrets.randbits(63)}"
        if self._store.is_taken(task.name, now):
            raise RpcError(
                StatusCode.ALREADY_EXISTS,
                "The task cannot be created because a task with this name existed too recently.",
            )
        self._store.add(request.parent, task)
        self._running[request.parent].wake()
        return apply_view(task, request.response_view)

    def get(self, request: Any) -> Any:
        return apply_view(self._find(request.name), request.response_view)

    def list(self, request: Any) -> Any:
        self._queues.find(request.parent)
        total = self._store.count(request.parent)
        size, start, following = rpc.page(request, total, most=PAGE)
        task = self._store.tasks(request.parent, size, start)
        return Page(tasks=[apply_view(task, request.response_view) for task in task], next_page_token=following)

    def delete(self, request: Any) -> Empty:
        self._find(request.name)
        self._store.remove(request.name, self._clock.now())
        return Empty()

    def run(self, request: Any) -> Any:
        task = self._find(request.name)
        self._running[task.name.split("/tasks/")[0]].send_now(task)
        return apply_view(task, request.response_view)

    def _find(self, name: str) -> Any:
        task = self._store.task(name)
        if task is None:
            raise RpcError(StatusCode.NOT_FOUND, "The task does not exist, or no longer.")
        return task


def apply_view(task: Any, view: int) -> Any:
    """Return a Task as far as the caller wants to see it: without the body, unless the view is FULL."""
    seen = Task()
    seen.CopyFrom(task)
    seen.view = View.FULL if view == View.FULL else View.BASIC
    if seen.view == View.BASIC:
        seen.http_request.ClearField("body")
    return seen
