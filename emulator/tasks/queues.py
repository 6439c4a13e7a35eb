"""What may be asked about queues: to create, get, list, update, delete, purge, pause and resume them."""

from typing import Any

from google.cloud import tasks_v2
from google.protobuf.empty_pb2 import Empty
from google.protobuf.field_mask_pb2 import FieldMask
from grpc import StatusCode

from emulator import rpc
from emulator.clock import EmulatorClock
from emulator.rpc import RpcError, invalid
from emulator.tasks import check
from emulator.tasks.running import RunningQueues
from emulator.tasks.store import Queue, TaskStore

PAGE = 9800
State = tasks_v2.Queue.State
Page = tasks_v2.ListQueuesResponse.pb()
IMMUTABLE = ("name", "state", "purge_time")
"""What only the service sets."""


class Queues:
    """Each method takes and returns the service's own messages, and raises RpcError."""

    def __init__(self, store: TaskStore, clock: EmulatorClock, running: RunningQueues) -> None:
        self._store = store
        self._clock = clock
        self._running = running

    def create(self, request: Any) -> Any:
        if not request.queue.name.startswith(f"{request.parent}/"):
            raise invalid(f"The queue name must be of the form {request.parent}/queues/QUEUE_ID.")
        if self._store.queue(request.queue.name):
            raise RpcError(StatusCode.ALREADY_EXISTS, "Queue already exists")
        return self._make(request.queue)

    def get(self, request: Any) -> Any:
        return self.find(request.name)

    def list(self, request: Any) -> Any:
        if request.filter:
            raise RpcError(StatusCode.UNIMPLEMENTED, "Filters are not supported here.")
        total = self._store.count_queues(request.parent)
        size, start, following = rpc.page(request, total, most=PAGE)
        return Page(queues=self._store.queues(request.parent, size, start), next_page_token=following)

    def update(self, request: Any) -> Any:
        queue = self._store.queue(request.queue.name)
        if queue is None:
            return self._make(request.queue)
        named = request.update_mask.paths or [field.name for field in Queue.DESCRIPTOR.fields]
        try:
            mask = FieldMask(paths=[path for path in named if path not in IMMUTABLE])
            mask.MergeMessage(request.queue, queue, True, True)
        except (ValueError, KeyError) as error:
            raise invalid("The update_mask names a field that does not exist.") from error
        return self._change(queue)

    def delete(self, request: Any) -> Empty:
        self.find(request.name)
        self._running.remove(request.name)
        self._store.remove_queue(request.name, self._clock.now())
        return Empty()

    def purge(self, request: Any) -> Any:
        queue = self.find(request.name)
        queue.purge_time.FromDatetime(self._clock.now())
        self._store.purge(queue, self._clock.now())
        return queue

    def pause(self, request: Any) -> Any:
        return self._set(request.name, State.PAUSED)

    def resume(self, request: Any) -> Any:
        return self._set(request.name, State.RUNNING)

    def find(self, name: str) -> Any:
        queue = self._store.queue(name)
        if queue is None:
            raise RpcError(StatusCode.NOT_FOUND, "Queue does not exist.")
        return queue

    def _set(self, name: str, state: int) -> Any:
        queue = self.find(name)
        queue.state = state
        return self._change(queue)

    def _make(self, requested: Any) -> Any:
        if not check.QUEUE.fullmatch(requested.name):
            raise invalid("The queue name must be of the form projects/*/locations/*/queues/QUEUE_ID.")
        queue = Queue()
        queue.CopyFrom(requested)
        queue.state = State.RUNNING
        queue.ClearField("purge_time")
        return self._change(queue)

    def _change(self, queue: Any) -> Any:
        check.queue(queue)
        self._store.keep_queue(queue)
        self._running.change(queue)
        return queue
