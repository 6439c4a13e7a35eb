"""The template: a process without threads that has imported what functions need, and forks each of them in milliseconds.

A script that imports nothing of ours. Its arguments are the number of a socket, the folder of the local cloud, which tells it
from others, and modules to import. What follows `+NUMBER` are the modules of a branch: a template with a socket of its own,
forked from this one as soon as that has imported what both are to have.

Over the socket come lines of JSON: `{"fork": …}`, together with an open file, the log, starts a process that leads a session of
its own, has the environment and the folder that were sent and nothing else of the template, and runs functions-framework's own
entry. The end of a process is told, and its number is kept from other processes until `{"reap": PID}`, so that nobody signals
another's. A branch tells its own number first. With the socket's end the template ends, and all that it forked.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import sys
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

FRAMEWORK = ("functions_framework._cli", "functions_framework.aio", "uvicorn.main")
"""What functions-framework imports before it serves an asynchronous function; but not gunicorn, which reads at its import where
its sockets are to be."""

READ_BYTES = 65_536
FDS_MAX = 16
BRANCH = "+"


class ForkingServer:
    """The processes that were forked, and the socket by which that is asked for and told."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._wakes, self._wake = os.pipe()
        self._running: set[int] = set()
        self._logs: deque[int] = deque()
        self._lines = b""

    def serve(self) -> None:
        """Do what is asked until the socket ends."""
        for end in (self._wakes, self._wake):
            os.set_blocking(end, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wake)
        ends: list[Any] = [self._control, self._wakes]
        while True:
            ready, _, _ = select.select(ends, [], [])
            if self._wakes in ready:
                os.read(self._wakes, READ_BYTES)
                self._tell_ended()
            if self._control in ready and not self._answer():
                return

    def _answer(self) -> bool:
        content, received, _, _ = socket.recv_fds(self._control, READ_BYTES, FDS_MAX)
        self._logs += received
        *whole, self._lines = (self._lines + content).split(b"\n")
        for line in whole:
            request = json.loads(line)
            if "reap" in request:
                os.waitpid(request["reap"], 0)
            else:
                self._fork(request["fork"])
        return bool(content)

    def _fork(self, function: dict[str, Any]) -> None:
        log = self._logs.popleft()
        leads, is_led = os.pipe()
        process = os.fork()
        if process == 0:
            os.setsid()
            signal.set_wakeup_fd(-1)
            for end in (leads, is_led, self._control.detach(), self._wakes, self._wake, *self._logs):
                os.close(end)
            become(function, log)
        for end in (log, is_led):
            os.close(end)
        os.read(leads, 1)  # from its end on, a signal to the group arrives
        os.close(leads)
        self._running.add(process)
        self._tell({"forked": process})
        self._tell_ended()

    def _tell_ended(self) -> None:
        for process in sorted(self._running):
            ended = os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if ended is not None:
                self._running.discard(process)
                code = ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status
                self._tell({"ended": process, "code": code})

    def end_all(self) -> None:
        """Kill what still runs."""
        for process in self._running:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process, signal.SIGKILL)

    def tell_itself(self) -> None:
        """Tell the number of this process, which nobody else could know of a branch."""
        self._tell({"template": os.getpid()})

    def _tell(self, answer: dict[str, int]) -> None:
        self._control.sendall(json.dumps(answer).encode() + b"\n")


def become(function: dict[str, Any], log: int) -> NoReturn:
    """Be a function from now on, as a new interpreter would that was started with these arguments."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (log, 1), (log, 2)):
        os.dup2(source, target)
    for end in (nothing, log):
        os.close(end)
    with suppress(OSError):
        Path("/proc/self/comm").write_text(function["name"])  # what `top` shows; there is no such file on other systems
    os.environ.clear()
    os.environ.update(function["env"])
    os.chdir(function["folder"])
    sys.argv[1:] = function["arguments"]
    runpy.run_module("functions_framework", run_name="__main__", alter_sys=True)
    sys.exit(0)


def read_modules(arguments: list[str]) -> dict[int, list[str]]:
    """Return the modules by the number of the socket: of the template itself first, then of its branches."""
    number, _, *rest = arguments
    modules: dict[int, list[str]] = {int(number): []}
    for word in rest:
        if word.startswith(BRANCH):
            modules[int(word.removeprefix(BRANCH))] = []
        else:
            modules[next(reversed(modules))].append(word)
    return modules


def branch_off(modules: dict[int, list[str]]) -> tuple[int, list[str]]:
    """Import what all have in common, and fork each branch; return the socket and the modules of this process."""
    first, *branches = modules
    for name in (*FRAMEWORK, *(name for name in modules[first] if all(name in named for named in modules.values()))):
        importlib.import_module(name)
    gc.freeze()  # pages that are shared stay shared
    for number in branches:
        if os.fork() == 0:
            os.setsid()
            for other in modules.keys() - {number}:
                os.close(other)
            return number, modules[number]
        os.close(number)
    return first, modules[first]


def main() -> None:
    """Import, and serve."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the emulator, which then closes the socket
    modules = read_modules(sys.argv[1:])
    gc.disable()  # to look for garbage again and again takes a fifth of the time, and imports leave next to none
    number, rest = branch_off(modules)
    for name in rest:
        importlib.import_module(name)
    gc.freeze()
    gc.enable()
    server = ForkingServer(socket.socket(fileno=number))
    with suppress(OSError):  # the emulator was killed
        if number != next(iter(modules)):
            server.tell_itself()
        server.serve()
    server.end_all()
    os._exit(0)


if __name__ == "__main__":
    main()
