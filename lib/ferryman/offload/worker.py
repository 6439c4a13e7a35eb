"""A worker process: it runs the jobs of its channel one by one, each within limits that the kernel enforces (sandboxing).

No text can evade them: the signal of a timer of processor time kills, also inside C code; memory is a limit of the address
space; and during a job any event on the channel (its peer closed it: the caller was cancelled, or died) raises SIGIO, which
kills as well.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pickle
import resource
import select
import signal
import socket
import struct
import time
from collections.abc import Iterator
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


def serve(channel: socket.socket) -> NoReturn:
    """Run jobs until the channel ends; the process ends with it."""
    _confine()
    channel.setblocking(True)
    channel.sendall(HELLO.pack(os.getpid()))
    statm = _open_statm()
    while (received := wire.receive(channel)) is not None:
        job, cpu_s, memory_bytes = received
        with _kill_on_hangup(channel), _limit(cpu_s, memory_bytes, statm):
            answer = _perform(job)
        del job, received
        for part in wire.frame_message(answer, time.process_time()):
            channel.sendall(part)
    os._exit(0)


def _perform(job: bytearray) -> bytes:
    try:
        function, arguments, named = pickle.loads(job)  # noqa: S301 - written by the process that started this one
        return wire.dumps((ANSWERED, function(*arguments, **named)))
    except MemoryError:
        return wire.dumps((MEMORY, None))
    except (CallRefusedError, InvalidInputError) as error:
        return wire.dumps((RAISED, error))
    except BaseException as error:  # noqa: BLE001 - its words may hold what was read; its type does not
        return wire.dumps((FAULT, type(error).__name__))


@contextlib.contextmanager
def _kill_on_hangup(channel: socket.socket) -> Iterator[None]:
    fcntl.fcntl(channel, fcntl.F_SETOWN, os.getpid())
    flags = fcntl.fcntl(channel, fcntl.F_GETFL)
    fcntl.fcntl(channel, fcntl.F_SETFL, flags | os.O_ASYNC)
    if select.select([channel], [], [], 0)[0]:
        os._exit(0)  # it was closed before the signal was set
    try:
        yield
    finally:
        fcntl.fcntl(channel, fcntl.F_SETFL, flags)


@contextlib.contextmanager
def _limit(cpu_s: float, memory_bytes: int, statm: int | None) -> Iterator[None]:
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if statm is not None:
        used = int(os.pread(statm, STATM_BYTES, 0).split()[0]) * PAGE_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (used + memory_bytes, hard))
    signal.setitimer(signal.ITIMER_PROF, cpu_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def _open_statm() -> int | None:
    """Return a descriptor of the pages in use; None where the system does not report them (only time is limited then)."""
    try:
        return os.open("/proc/self/statm", os.O_RDONLY)
    except OSError:
        return None


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
