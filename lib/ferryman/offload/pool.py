"""The worker pool, shared fairly: an owner has one job under way at a time, however many it submits (backpressure).

So an owner occupies at most one worker, and a job waits behind one of each other owner, not behind a flood.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import socket
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from ferryman.offload import wire, worker
from ferryman.offload.budget import Budget, JobFailedError, OverBudgetError, TooManyJobsError
from ferryman.offload.fork_server import ForkServer, server
from ferryman.turns import OwnerLimiter

Answer = TypeVar("Answer")

WORKERS_MAX = 8
"""Jobs under way at once; each is of another owner."""

IDLE_MAX = 3
IDLE_S = 10.0
"""How many idle workers are kept, and for how many seconds; what they have read ends with them."""

KEPT_S = 0.2
"""Seconds an idle worker is kept for its last owner, who mostly comes back for the next part of the same call. Another owner
gets a new worker meanwhile; otherwise an owner who wears out workers would wear out those of others."""

WAITING_MAX = 64
"""Jobs of one owner that wait for its turn."""

SLOW_S = 0.025
LOOK_S = 0.005
NICE = 5
"""A job that takes more of a processor's time than this goes on with what time nobody else wants: the event loop, and the jobs
of an ordinary call, which take some milliseconds, go before it. A worker that was put back cannot be put forward again."""

LARGE_BYTES = 1_048_576
"""What is asked and answered with more than this takes many times as much of a worker's memory, which it would keep."""

STARTS_S = 20.0
STARTS_MAX = 2


class _Worker:
    """A worker's channel: to close it is to end the process, also in the midst of a job."""

    def __init__(self, channel: socket.socket) -> None:
        self.channel = channel
        self.owner = ""
        self.since = 0.0
        self.process = 0
        self.spent = False
        """Whether it is of no further use: it keeps the memory that it took, or was put back."""
        self.resting: asyncio.TimerHandle | None = None
        self.close = weakref.finalize(self, channel.close)

    def ran_s(self) -> float:
        """Return the seconds of processor time it has had; by the clock where the system does not tell."""
        try:
            return int(Path(f"/proc/{self.process}/schedstat").read_bytes().split()[0]) / 1e9
        except (OSError, ValueError, IndexError):
            return time.monotonic()

    def put_back(self) -> None:
        """Let everything else of this process's rank go first."""
        self.spent = True
        with suppress(OSError):  # it has just ended
            os.setpriority(os.PRIO_PROCESS, self.process, NICE)


class WorkerPool:
    """The workers of one event loop."""

    def __init__(
        self,
        fork_server: ForkServer = server,
        *,
        workers_max: int = WORKERS_MAX,
        idle_s: float = IDLE_S,
        kept_s: float = KEPT_S,
    ) -> None:
        self._fork_server = fork_server
        self._idle_s = idle_s
        self._kept_s = kept_s
        self._free = asyncio.Semaphore(workers_max)
        self._turns = OwnerLimiter(1)
        self._idle: list[_Worker] = []

    async def run(self, owner: str, budget: Budget, function: Callable[..., Answer], *arguments: Any, **named: Any) -> Answer:
        """Run a job as `offload.run` describes."""
        if self._turns.count(owner) > WAITING_MAX:
            raise TooManyJobsError(f"more than {WAITING_MAX} texts of this owner wait to be read")
        try:
            async with asyncio.timeout(budget.wall_s), self._turns.turn(owner), self._free:
                hired = await self._hire(owner, function)
                try:
                    kind, value = await _perform(hired, budget, (function, arguments, named))
                except BaseException:
                    hired.close()
                    raise
                if kind == worker.MEMORY or hired.spent:
                    hired.close()
                else:
                    self._rest(hired, owner)
        except TimeoutError:
            raise OverBudgetError(budget) from None
        if kind == worker.MEMORY:
            raise OverBudgetError(budget)
        if kind == worker.FAULT:
            raise JobFailedError(value)
        if kind == worker.RAISED:
            raise value
        answer: Answer = value
        return answer

    def close(self) -> None:
        """End the workers that have nothing to do."""
        while self._idle:
            self._dismiss(self._idle[-1])

    async def _hire(self, owner: str, function: Callable[..., Any]) -> _Worker:
        """Return a worker: the one that had this owner last, one whose owner has not come back for a while, or a new one."""
        while (chosen := self._choose(owner)) is not None:
            self._idle.remove(chosen)
            assert chosen.resting is not None, "what is idle rests"
            chosen.resting.cancel()
            if _is_alive(chosen.channel):
                return chosen
            chosen.close()
        for _ in range(STARTS_MAX):
            try:
                made = _Worker(self._fork_server.worker(function))
            except OSError:
                self._fork_server.close()
                continue
            if await _is_ready(made):
                return made
            made.close()
            self._fork_server.close()
        raise TooManyJobsError("no worker could be started")

    def _choose(self, owner: str) -> _Worker | None:
        latest = asyncio.get_running_loop().time() - self._kept_s
        last = next((idle for idle in self._idle if idle.owner == owner), None)
        return last or next((idle for idle in self._idle if idle.since <= latest), None)

    def _rest(self, hired: _Worker, owner: str) -> None:
        hired.owner, hired.since = owner, asyncio.get_running_loop().time()
        self._idle.append(hired)
        hired.resting = asyncio.get_running_loop().call_later(self._idle_s, self._dismiss, hired)
        if len(self._idle) > IDLE_MAX:
            self._dismiss(self._idle[0])

    def _dismiss(self, idle: _Worker) -> None:
        if idle in self._idle:
            self._idle.remove(idle)
        if idle.resting is not None:
            idle.resting.cancel()
        idle.close()


def _is_alive(channel: socket.socket) -> bool:
    try:
        channel.recv(1)  # what is idle says nothing: there is something to read only where it ended
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


async def _is_ready(made: _Worker) -> bool:
    try:
        async with asyncio.timeout(STARTS_S):
            hello = await asyncio.get_running_loop().sock_recv(made.channel, worker.HELLO.size)
    except (OSError, TimeoutError):
        return False
    except BaseException:
        made.close()
        raise
    if not hello:
        return False
    (made.process,) = worker.HELLO.unpack(hello)
    return True


async def _put_back_when_slow(hired: _Worker) -> None:
    """Put the worker back once its job has had a processor for `SLOW_S`.

    Not by the clock: where many want a processor, an ordinary job waits long, and is not to wait longer still.
    """
    began = hired.ran_s()
    left = SLOW_S
    while left > 0:
        await asyncio.sleep(max(left, LOOK_S))
        left = SLOW_S - (hired.ran_s() - began)
    hired.put_back()


async def _perform(hired: _Worker, budget: Budget, job: Any) -> tuple[int, Any]:
    """Return the outcome of the job: see `worker`. Raise `OverBudgetError` if the worker did not survive it."""
    asked = wire.dumps(job)
    watching = asyncio.ensure_future(_put_back_when_slow(hired))
    try:
        answer = await wire.exchange(hired.channel, asked, cpu_s=budget.cpu_s, memory_bytes=budget.memory_bytes)
    finally:
        watching.cancel()
    if answer is None:
        raise OverBudgetError(budget)
    hired.spent = hired.spent or len(asked) + len(answer) > LARGE_BYTES
    try:
        return worker.read_outcome(answer)
    except pickle.UnpicklingError:
        return worker.FAULT, "UnpicklingError"
