"""A worker process: it runs the jobs of its channel one by one, each within limits that the kernel enforces (sandboxing).

No text can evade them: the signal of a timer of processor time kills, also inside C code; memory is a limit of the address
space; and when the caller closes a second channel, or dies, SIGIO kills as well.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pickle
import resource
import signal
import socket
import struct
import time
from pathlib import Path
from typing import Any, NoReturn

from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.problem import InvalidInputError
from ferryman.offload import wire

HELLO = struct.Struct(">Q")  # the first message of a worker: its process id
ANSWERED, RAISED, FAULT, MEMORY = range(4)
"""The kinds of an answer: a value, one of our own errors, the type of any other error, or no memory."""

PAGE_BYTES = resource.getpagesize()
STATM_BYTES = 256


def serve(channel: socket.socket, hangup: socket.socket) -> NoReturn:
    """Run jobs until the channel ends; the process ends with it, and at once when `hangup` is closed."""
    _confine()
    _end_with(hangup)
    channel.setblocking(True)
    channel.sendall(HELLO.pack(os.getpid()))
    limits = _JobLimits()
    while (received := wire.receive(channel)) is not None:
        job, cpu_s, memory_bytes = received
        limits.set(cpu_s, memory_bytes)
        answer = _perform(job)
        for part in wire.frame_message(answer, time.process_time()):
            channel.sendall(part)
        del job, received, answer, part
        limits.lift()
    os._exit(0)


def _perform(job: bytearray) -> bytes:
    try:
        function, arguments, named, is_of_another = pickle.loads(job)  # noqa: S301 - written by the process that started this one
        if is_of_another:
            wire.forget()
        return wire.dumps((ANSWERED, function(*arguments, **named)))
    except MemoryError:
        return wire.dumps((MEMORY, None))
    except (CallRefusedError, InvalidInputError) as error:
        return wire.dumps((RAISED, error))
    except BaseException as error:  # noqa: BLE001 - its words may hold what was read; its type does not
        return wire.dumps((FAULT, type(error).__name__))


class _JobLimits:
    """The limits of one job after the other. What takes time is done between them, while nobody waits for an answer."""

    def __init__(self) -> None:
        self._hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        try:
            self._statm: int | None = os.open("/proc/self/statm", os.O_RDONLY)
        except OSError:
            self._statm = None  # the system does not report the pages in use: only time is limited then
        self.lift()

    def set(self, cpu_s: float, memory_bytes: int) -> None:
        """Begin a job: more time or memory ends the process from now on."""
        if self._statm is not None:
            resource.setrlimit(resource.RLIMIT_AS, (self._used_bytes + memory_bytes, self._hard))
        signal.setitimer(signal.ITIMER_PROF, cpu_s)

    def lift(self) -> None:
        """End a job: lift its limits, and measure what the next one's memory is added to."""
        signal.setitimer(signal.ITIMER_PROF, 0)
        if self._statm is not None:
            resource.setrlimit(resource.RLIMIT_AS, (self._hard, self._hard))
            self._used_bytes = int(os.pread(self._statm, STATM_BYTES, 0).split()[0]) * PAGE_BYTES


def _end_with(hangup: socket.socket) -> None:
    """Let any event on `hangup` raise SIGIO, which kills.

    No data is sent on it, so the one event is that its other end was closed. The channel of the jobs would not do:
    its sender may raise the signal for a job that was already received.
    """
    fcntl.fcntl(hangup, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(hangup, fcntl.F_SETFL, fcntl.fcntl(hangup, fcntl.F_GETFL) | os.O_ASYNC)
    with contextlib.suppress(BlockingIOError):
        hangup.recv(1, socket.MSG_DONTWAIT)
        os._exit(0)  # it was closed before the signal was set


def _confine() -> None:
    """Give up the rights that a job does not need: writing files, and core dumps."""
    for name in (signal.SIGIO, signal.SIGPROF):
        signal.signal(name, signal.SIG_DFL)
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")  # without memory, the kernel kills a worker before the function
    for limit in (resource.RLIMIT_CORE, resource.RLIMIT_FSIZE):
        resource.setrlimit(limit, (0, 0))


def read_outcome(answer: bytes) -> tuple[int, Any]:
    """Return the kind and the value of an answer, on the caller's side."""
    kind, value = wire.loads_answer(answer)
    return kind, value
