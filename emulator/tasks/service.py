"""The service: which method does what, and when it opens and closes."""

from pathlib import Path

import grpc
from google.cloud import tasks_v2 as proto

from emulator import rpc
from emulator.clock import EmulatorClock
from emulator.identity import IdentityTokens
from emulator.storage import open_store
from emulator.tasks.queues import Queues
from emulator.tasks.running import RunningQueues
from emulator.tasks.store import SCHEMA, TaskStore
from emulator.tasks.tasks import QueuedTasks

NAME = "google.cloud.tasks.v2.CloudTasks"


class CloudTasksEmulator:
    """Cloud Tasks, durable in the folder `path`; in memory for None. Call `start` before the first request comes."""

    def __init__(self, *, path: Path | None, clock: EmulatorClock, tokens: IdentityTokens) -> None:
        self._store = TaskStore(open_store(path, "tasks", SCHEMA))
        self._running = RunningQueues(store=self._store, clock=clock, tokens=tokens)
        self._queues = Queues(self._store, clock, self._running)
        self._tasks = QueuedTasks(self._store, clock, self._running, self._queues)

    def handler(self) -> grpc.GenericRpcHandler:
        """Return the service, to be added to a gRPC server."""
        queues, tasks = self._queues, self._tasks
        return rpc.service(
            NAME,
            {
                "CreateQueue": (queues.create, proto.CreateQueueRequest.pb()),
                "GetQueue": (queues.get, proto.GetQueueRequest.pb()),
                "ListQueues": (queues.list, proto.ListQueuesRequest.pb()),
                "UpdateQueue": (queues.update, proto.UpdateQueueRequest.pb()),
                "DeleteQueue": (queues.delete, proto.DeleteQueueRequest.pb()),
                "PurgeQueue": (queues.purge, proto.PurgeQueueRequest.pb()),
                "PauseQueue": (queues.pause, proto.PauseQueueRequest.pb()),
                "ResumeQueue": (queues.resume, proto.ResumeQueueRequest.pb()),
                "CreateTask": (tasks.create, proto.CreateTaskRequest.pb()),
                "GetTask": (tasks.get, proto.GetTaskRequest.pb()),
                "ListTasks": (tasks.list, proto.ListTasksRequest.pb()),
                "DeleteTask": (tasks.delete, proto.DeleteTaskRequest.pb()),
                "RunTask": (tasks.run, proto.RunTaskRequest.pb()),
            },
        )

    def delivered(self) -> list[dict[str, object]]:
        """Return every attempt, oldest first, the last 10,000: `name`, `method`, `url`, `headers` without the token, `body`."""
        return list(self._running.delivered)

    def forget(self) -> None:
        """Drop the record of what was delivered."""
        self._running.delivered.clear()

    async def start(self) -> None:
        """Begin to send what is due, and again what was under way when the last process died."""
        await self._running.start()

    async def idle(self) -> None:
        """Wait until no task is under way or could be sent now."""
        await self._running.idle()

    async def close(self) -> None:
        """Stop sending; close connections and file. What is under way is sent again after the next start."""
        await self._running.close()
        self._store.close()
