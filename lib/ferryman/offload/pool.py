"""The worker pool with fair queuing: an owner has one job under way at a time, and the others wait (backpressure).

So an owner occupies at most one worker, and a job waits for at most one job of each other owner.
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
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from ferryman.limiter import OwnerLimiter
from ferryman.offload import wire, worker
from ferryman.offload.fork_server import ForkServer, server
from ferryman.ports.errors import UnavailableError

MIB = 1_048_576


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The limits of one job: seconds of processor time, seconds by the clock including its waiting time, and bytes of memory
    in addition to those of an idle worker."""

    cpu_s: float
    wall_s: float
    memory_bytes: int

    def __str__(self) -> str:
        return f"{self.cpu_s:g} s of processor time, {self.wall_s:g} s by the clock or {self.memory_bytes // MIB} MiB of memory"


TEXT = Budget(cpu_s=2.0, wall_s=4.0, memory_bytes=192 * MIB)
"""A request, an answer, a model's turn: at most some hundreds of thousands of characters. Its wall time is less
than the time of a call to be settled (`domain.calls.call.SETTLING_TIME`)."""

DOCUMENT = Budget(cpu_s=20.0, wall_s=25.0, memory_bytes=448 * MIB)
"""An OpenAPI document with those it refers to, of 16 MiB together."""


class OverBudgetError(Exception):
    """The job took more than its budget, and its worker was killed. The text names the limit."""

    def __init__(self, budget: Budget) -> None:
        super().__init__(f"it takes more than {budget}")


class TooManyJobsError(UnavailableError):
    """Too many jobs of the same owner are waiting, or no worker could be started: nothing was done."""


class JobFailedError(Exception):
    """The function raised an unexpected error. The text is its type alone: its message may hold the text that was read."""


Answer = TypeVar("Answer")

WORKERS_MAX = 8  # jobs under way at once; each is of another owner
IDLE_MAX = 3
IDLE_S = 10.0
"""The number of idle workers, and the seconds until one is ended; the texts that it read end with it."""

RESERVED_S = 0.2
"""Seconds that an idle worker is reserved for its last owner, mostly for the next part of the same call. Another owner gets a
new worker meanwhile: so an owner whose jobs kill workers does not kill those of others."""

WAITING_MAX = 64  # jobs of one owner that wait for its turn
SLOW_S = 0.025
POLL_S = 0.005
NICE = 5
"""A job that has used `SLOW_S` of processor time continues at a lower priority: the event loop, and the jobs of an ordinary
call, which take some milliseconds, run first. The priority of a process cannot be raised again, so its worker reads for the
same owner only from then on."""

LARGE_BYTES = 1_048_576  # a longer job or answer takes many times as much memory of a worker, which it would not release
STARTS_S = 20.0
STARTS_MAX = 2


class _Worker:
    """A worker's channels: closing them ends the process, also during a job."""

    def __init__(self, channel: socket.socket, hangup: socket.socket) -> None:
        self.channel = channel
        self.owner = ""
        self.since = 0.0
        self.process = 0
        self.used_s = 0.0
        """Its seconds of processor time after its last answer."""
        self.is_used_up = False
        """Whether it cannot be used again: it holds too much memory."""
        self.is_slow = False
        """Whether it has a lower priority."""
        self.resting: asyncio.TimerHandle | None = None
        self.close = weakref.finalize(self, _close_all, hangup, channel)

    def measure_job_s(self, since: float) -> float:
        """Return the job's seconds of processor time; seconds by the clock where the system does not report them."""
        try:
            return int(Path(f"/proc/{self.process}/schedstat").read_bytes().split()[0]) / 1e9 - self.used_s
        except (OSError, ValueError, IndexError):
            return time.monotonic() - since

    def lower_priority(self) -> None:
        """Let all other processes run first."""
        self.is_slow = True
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
        reserved_s: float = RESERVED_S,
    ) -> None:
        self._fork_server = fork_server
        self._idle_s = idle_s
        self._reserved_s = reserved_s
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
                    kind, value = await _perform(hired, budget, (function, arguments, named, hired.owner not in ("", owner)))
                except BaseException:
                    hired.close()
                    raise
                if kind == worker.MEMORY or hired.is_used_up:
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
        """End the idle workers."""
        while self._idle:
            self._dismiss(self._idle[-1])

    async def _hire(self, owner: str, function: Callable[..., Any]) -> _Worker:
        """Return a worker: the last one of this owner, one that is no longer reserved, or a new one."""
        while (chosen := self._choose(owner)) is not None:
            self._idle.remove(chosen)
            assert chosen.resting is not None, "an idle worker has a timer"
            chosen.resting.cancel()
            if _is_alive(chosen.channel):
                return chosen
            chosen.close()
        for _ in range(STARTS_MAX):
            try:
                started = _Worker(*self._fork_server.worker(function))
            except OSError:
                self._fork_server.close()
                continue
            if await _is_ready(started):
                return started
            started.close()
            self._fork_server.close()
        raise TooManyJobsError("no worker could be started")

    def _choose(self, owner: str) -> _Worker | None:
        latest = asyncio.get_running_loop().time() - self._reserved_s
        last = next((idle for idle in self._idle if idle.owner == owner), None)
        return last or next((idle for idle in self._idle if idle.since <= latest and not idle.is_slow), None)

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


def _close_all(*channels: socket.socket) -> None:
    for channel in channels:
        channel.close()


def _is_alive(channel: socket.socket) -> bool:
    try:
        channel.recv(1)  # an idle worker sends nothing: there is something to read only where it ended
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


async def _is_ready(started: _Worker) -> bool:
    try:
        async with asyncio.timeout(STARTS_S):
            hello = await asyncio.get_running_loop().sock_recv(started.channel, worker.HELLO.size)
    except (OSError, TimeoutError):
        return False
    except BaseException:
        started.close()
        raise
    if not hello:
        return False
    (started.process,) = worker.HELLO.unpack(hello)
    return True


class _PriorityWatch:
    """Lowers the priority of a worker once its job has had `SLOW_S` of processor time, until it is ended.

    Not by the clock: on a busy machine an ordinary job waits long, and should not wait longer.
    """

    def __init__(self, hired: _Worker) -> None:
        self._hired, self._since, self._loop = hired, time.monotonic(), asyncio.get_running_loop()
        self._timer = self._loop.call_later(SLOW_S, self._look)

    def end(self) -> None:
        self._timer.cancel()

    def _look(self) -> None:
        remaining = SLOW_S - self._hired.measure_job_s(self._since)
        if remaining > 0:
            self._timer = self._loop.call_later(max(remaining, POLL_S), self._look)
        else:
            self._hired.lower_priority()


async def _perform(hired: _Worker, budget: Budget, job: Any) -> tuple[int, Any]:
    """Return the outcome of the job: see `worker`. Raise `OverBudgetError` if the worker did not survive it."""
    message = wire.dumps(job)
    watch = _PriorityWatch(hired)
    try:
        answered = await wire.exchange(hired.channel, message, cpu_s=budget.cpu_s, memory_bytes=budget.memory_bytes)
    finally:
        watch.end()
    if answered is None:
        raise OverBudgetError(budget)
    answer, hired.used_s = answered
    hired.is_used_up = hired.is_used_up or len(message) + len(answer) > LARGE_BYTES
    try:
        return worker.read_outcome(answer)
    except pickle.UnpicklingError:
        return worker.FAULT, "UnpicklingError"
