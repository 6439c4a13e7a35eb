"""The fork server: a small process without threads that has imported the jobs' modules, and forks a worker in milliseconds.

Forking this process itself is not possible: gRPC's threads hold locks. A fresh interpreter for each worker would import for a
third of a second, after every text that gets its worker killed.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

ENDS_S = 2.0
FDS_MAX = 16
_BOOT = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[2]);"
    "from ferryman.offload.fork_server import main; main(int(sys.argv[1]))"
)


class ForkServer:
    """The server's process, started at the first use. Raise OSError where it, or a worker, cannot be started."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._expected: dict[str, bytes] = {}
        self._loaded: set[str] = set()

    def expect(self, function: Callable[..., Any]) -> None:
        """Let every future worker import the module of `function`. Starts nothing."""
        self._expected[function.__module__] = pickle.dumps(function)

    def worker(self, function: Callable[..., Any]) -> tuple[socket.socket, socket.socket]:
        """Return two channels of a new worker that has imported what `function` needs: that of its jobs, and one without
        any data. The worker ends when the second is closed, also during a job, and when the first is closed after its job."""
        ours, its = zip(socket.socketpair(), socket.socketpair(), strict=True)
        try:
            with self._lock, its[0], its[1]:
                control = self._start()
                self.expect(function)
                for module in [module for module in self._expected if module not in self._loaded]:
                    control.sendall(self._expected[module].hex().encode() + b"\n")
                    self._loaded.add(module)
                socket.send_fds(control, [b"fork\n"], [end.fileno() for end in its])
        except BaseException:
            for end in ours:
                end.close()
            raise
        ours[0].setblocking(False)
        return ours[0], ours[1]

    @property
    def process_id(self) -> int | None:
        """The process, where it has been started."""
        return None if self._child is None else self._child.pid

    def close(self) -> None:
        """End the process; workers end with their channels."""
        with self._lock:
            self._end()

    def _start(self) -> socket.socket:
        if self._control is not None and self._child is not None and self._child.poll() is None:
            return self._control
        self._end()
        ours, its = socket.socketpair()
        with its:
            paths = json.dumps([os.path.abspath(path) for path in sys.path])
            self._child = subprocess.Popen(  # noqa: S603 - our own module, found where this one was
                [sys.executable, "-I", "-c", _BOOT, str(its.fileno()), paths],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[its.fileno()],
                env={},
            )
        self._control = ours
        return ours

    def _end(self) -> None:
        self._loaded.clear()
        if self._control is not None:
            self._control.close()
        if self._child is not None:
            try:
                self._child.wait(ENDS_S)
            except subprocess.TimeoutExpired:
                self._child.kill()
                self._child.wait()
        self._child = self._control = None


def main(descriptor: int) -> None:
    """Run the server's own process: import what is requested, and fork for every channel received, until the control ends."""
    from ferryman.offload.worker import serve

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no process waits for workers
    sys.dont_write_bytecode = True
    control = socket.socket(fileno=descriptor)
    channels, lines = deque[int](), b""
    while True:
        content, received, _, _ = socket.recv_fds(control, 65_536, FDS_MAX)
        if not content:
            os._exit(0)
        channels += received
        *whole, lines = (lines + content).split(b"\n")
        for line in whole:
            if line != b"fork":
                pickle.loads(bytes.fromhex(line.decode()))  # noqa: S301 - a function's name, whose module is imported by this
                gc.collect()
                gc.freeze()  # pages that are shared with workers stay shared
                continue
            channel, hangup = channels.popleft(), channels.popleft()
            if os.fork() == 0:
                control.close()
                serve(socket.socket(fileno=channel), socket.socket(fileno=hangup))
            os.close(channel)
            os.close(hangup)


server = ForkServer()
atexit.register(server.close)
