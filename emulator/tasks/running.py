"""A queue at work: it sends each task when it is due, within the queue's limits, until the worker is content."""

from collections import deque
from datetime import datetime
from typing import Any

from google.cloud import tasks_v2

from emulator.clock import EmulatorClock
from emulator.delivery import HttpDelivery, UndeliveredError
from emulator.identity import IdentityTokens
from emulator.scheduler import Scheduler
from emulator.tasks import attempt, check
from emulator.tasks.rate import Bucket
from emulator.tasks.retry import back_off, is_over
from emulator.tasks.store import TaskStore

RUNNING = tasks_v2.Queue.State.RUNNING
DELIVERED_MAX = 10_000

Delivered = deque[dict[str, object]]


class RunningQueue:
    """One queue's dispatches."""

    def __init__(
        self,
        queue: Any,
        *,
        store: TaskStore,
        clock: EmulatorClock,
        delivery: HttpDelivery,
        tokens: IdentityTokens,
        delivered: Delivered,
    ) -> None:
        self._store = store
        self._clock = clock
        self._delivery = delivery
        self._tokens = tokens
        self._delivered = delivered
        self._queue = queue
        self._bucket = self._new_bucket()
        self._scheduler = Scheduler(clock, self._step)
        self._scheduler.start()

    def change(self, queue: Any) -> None:
        """Go on under changed limits, or another state."""
        limits, self._queue = self._queue.rate_limits, queue
        if limits != queue.rate_limits:
            self._bucket = self._new_bucket()
        self._scheduler.wake()

    def wake(self) -> None:
        """Look at the queues again: there is a new task."""
        self._scheduler.wake()

    def send_now(self, task: Any) -> None:
        """Send a task whatever the limits, the queue's state and the task's time are."""
        self._begin(task)

    async def idle(self) -> None:
        """Wait until no task is under way or could be sent now."""
        await self._scheduler.idle()

    def stop(self) -> None:
        """Stop at once: the queue is gone."""
        self._scheduler.stop()

    async def close(self) -> None:
        """Stop; what is under way is sent again after the next start."""
        await self._scheduler.close()

    def _new_bucket(self) -> Bucket:
        limits = self._queue.rate_limits
        return Bucket(limits.max_dispatches_per_second, limits.max_burst_size, self._clock.now())

    def _step(self) -> datetime | None:
        if self._queue.state != RUNNING:
            return None
        now = self._clock.now()
        while self._scheduler.running < self._queue.rate_limits.max_concurrent_dispatches:
            first = self._store.next(self._queue.name)
            if first is None:
                return None
            name, due = first
            if due > now:
                return due
            if not self._bucket.take(now):
                return self._bucket.ready()
            self._begin(self._store.task(name))
        return None

    def _begin(self, task: Any) -> None:
        headers = attempt.build_headers(task, self._tokens)
        attempt.begin(task, self._clock.now())
        self._store.under_way(task)
        self._delivered.append(attempt.describe(task, headers))
        self._scheduler.spawn(self._send(task, headers))

    async def _send(self, task: Any, headers: dict[str, str]) -> None:
        request = task.http_request
        try:
            status = await self._delivery.send(
                attempt.find_method(task),
                request.url,
                headers=headers,
                content=request.body,
                deadline=task.dispatch_deadline.ToTimedelta(),
            )
        except UndeliveredError:
            attempt.record_failure(task, self._clock.now())
            self._try_again(task)
        else:
            attempt.record_answer(task, status, self._clock.now())
            if 200 <= status < 300:
                self._store.remove(task.name, self._clock.now())
            else:
                self._try_again(task)

    def _try_again(self, task: Any) -> None:
        now = self._clock.now()
        config = task.retry_config if task.HasField("retry_config") else self._queue.retry_config
        check.retry(config)
        first, created = task.first_attempt.dispatch_time.ToDatetime(now.tzinfo), task.create_time.ToDatetime(now.tzinfo)
        if is_over(config, failures=task.dispatch_count, first=first, created=created, now=now):
            self._store.remove(task.name, now)
        else:
            task.schedule_time.FromDatetime(now + back_off(config, task.dispatch_count))
            self._store.due_again(task)


class RunningQueues:
    """All queues at work, once `start` was called."""

    def __init__(self, *, store: TaskStore, clock: EmulatorClock, tokens: IdentityTokens) -> None:
        self._store = store
        self._clock = clock
        self._tokens = tokens
        self._delivery = HttpDelivery(clock)
        self._queues: dict[str, RunningQueue] = {}
        self.delivered: Delivered = deque(maxlen=DELIVERED_MAX)
        """What was sent, oldest first, each attempt."""

    async def start(self) -> None:
        """Set every queue to work; there must be a running event loop."""
        self._store.recover()
        for queue in self._store.every_queue():
            self.change(queue)

    def __getitem__(self, name: str) -> RunningQueue:
        return self._queues[name]

    def change(self, queue: Any) -> None:
        """Set a new queue to work, or change one."""
        if queue.name in self._queues:
            self._queues[queue.name].change(queue)
        else:
            self._queues[queue.name] = RunningQueue(
                queue,
                store=self._store,
                clock=self._clock,
                delivery=self._delivery,
                tokens=self._tokens,
                delivered=self.delivered,
            )

    def remove(self, name: str) -> None:
        """Stop a queue that is gone."""
        self._queues.pop(name).stop()

    async def idle(self) -> None:
        """Wait until nothing is under way or could be sent now."""
        for queue in list(self._queues.values()):
            await queue.idle()

    async def close(self) -> None:
        """Stop all queues and close the connections."""
        for queue in self._queues.values():
            await queue.close()
        await self._delivery.close()
