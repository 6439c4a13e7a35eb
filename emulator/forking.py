"""Forking: the template's process, as the emulator sees it, and the processes of functions that it forks."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from emulator import template

READ_BYTES = 65_536
SHARED = ""
"""The name of the template of all functions that have none of their own."""
INHERITED = ("PATH", "HOME")


class TemplateEndedError(Exception):
    """The template ended before it had forked the process; the emulator's log has what it wrote."""


class ForkedProcess:
    """A process that leads its group. Its number is its own until `release`, however long ago it ended."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self.is_wanted = True
        self._ended = asyncio.Event()

    async def wait(self) -> int:
        """Wait until it ends; return its exit code, below zero where a signal ended it."""
        await self._ended.wait()
        return self.returncode or 0

    def end(self, code: int) -> None:
        """Note that it has ended."""
        self.returncode = code
        self._ended.set()


class TemplateProcess:
    """The template of one local cloud: started when it is needed or by `start`, and again where it has ended.

    A branch is forked from another template, which has imported much of it already; where it has ended, it is started alone.
    """

    def __init__(self, folder: Path, modules: Sequence[str] = ()) -> None:
        self._folder, self._modules = folder.resolve(), modules
        self._child: subprocess.Popen[bytes] | None = None
        self._branch: int | None = None
        self._control: socket.socket | None = None
        self._reading: asyncio.Task[None] | None = None
        self._forking: deque[asyncio.Future[ForkedProcess]] = deque()
        self._processes: dict[int, ForkedProcess] = {}
        self.command: list[str] = []
        """How the template was started, which is the command of all that it forks."""

    @property
    def group(self) -> int | None:
        """The template's own group, where it runs; of a branch once it has told."""
        if self._branch is not None:
            return self._branch
        return None if self._child is None or self._child.poll() is not None else self._child.pid

    def start(self, *branches: TemplateProcess) -> None:
        """Start the template, with its branches, which then import; nothing waits for them."""
        with ExitStack() as closing:
            numbers = []
            for process in (self, *branches):
                process._control, its = socket.socketpair()
                numbers.append(closing.enter_context(its).fileno())
            command = [sys.executable, "-P", template.__file__, str(numbers[0]), str(self._folder), *self._modules]
            for process, number in zip(branches, numbers[1:], strict=True):
                command += [f"{template.BRANCH}{number}", *process._modules]
            self._child = subprocess.Popen(  # noqa: S603 - our own file
                command,
                env=inherit_environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=numbers,
                start_new_session=True,
            )
        for process in (self, *branches):
            process.command = command

    async def fork(
        self, name: str, arguments: Sequence[str], *, env: Mapping[str, str], folder: Path, log: int
    ) -> ForkedProcess:
        """Return a new process of functions-framework that writes to `log`. Raise TemplateEndedError."""
        if self._control is None:
            self.start()
        if self._reading is None:
            self._reading = asyncio.create_task(self._read())
        assert self._control is not None
        function = {"name": name, "arguments": [*arguments], "env": dict(env), "folder": str(folder)}
        forking: asyncio.Future[ForkedProcess] = asyncio.get_running_loop().create_future()
        self._forking.append(forking)
        self._control.setblocking(True)
        with suppress(OSError):  # its end is seen by who reads
            socket.send_fds(self._control, [json.dumps({"fork": function}).encode() + b"\n"], [log])
        self._control.setblocking(False)
        return await forking

    def release(self, process: ForkedProcess) -> None:
        """Let the number of a process that has ended go to others."""
        if self._processes.pop(process.pid, None) is not None and self._control is not None:
            with suppress(OSError):
                self._control.send(json.dumps({"reap": process.pid}).encode() + b"\n")

    async def close(self) -> None:
        """End the template. What it forked goes on."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait([self._reading])
        self._forget()

    def _forget(self) -> None:
        if self._control is not None:
            self._control.close()
        if self._child is not None:
            self._child.kill()
            self._child.wait()
        # a branch ends with its socket
        self._child = self._control = self._reading = self._branch = None

    async def _read(self) -> None:
        assert self._control is not None
        loop, lines = asyncio.get_running_loop(), b""
        with suppress(OSError):
            while content := await loop.sock_recv(self._control, READ_BYTES):
                *whole, lines = (lines + content).split(b"\n")
                for line in whole:
                    self._note(json.loads(line))
        # nothing is known any longer of what it forked, and so that does not live on
        for pid, process in self._processes.items():
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)
            process.end(-signal.SIGKILL)
        self._processes.clear()
        while self._forking:
            self._forking.popleft().set_exception(TemplateEndedError("the template of the functions ended"))
        self._forget()

    def _note(self, answer: Mapping[str, int]) -> None:
        if "template" in answer:
            self._branch = answer["template"]
            return
        if "forked" in answer:
            process = self._processes[answer["forked"]] = ForkedProcess(answer["forked"])
            forking = self._forking.popleft()
            if forking.done():  # its caller has given up
                os.killpg(process.pid, signal.SIGKILL)
                process.is_wanted = False
            else:
                forking.set_result(process)
            return
        process = self._processes[answer["ended"]]
        process.end(answer["code"])
        if not process.is_wanted:
            self.release(process)


def start_templates(folder: Path, preload: Sequence[str]) -> dict[str, TemplateProcess]:
    """Start the templates that import these: `MODULE` for all functions, `NAME=MODULE` in one for that function alone."""
    modules: dict[str, list[str]] = {}
    for text in preload:
        name, _, module = text.rpartition("=")
        modules.setdefault(name, []).append(module)
    templates = {name: TemplateProcess(folder, named) for name, named in modules.items()}
    if SHARED in templates:
        templates[SHARED].start(*(process for name, process in templates.items() if name != SHARED))
        return templates
    for process in templates.values():
        process.start()
    return templates


def inherit_environment() -> dict[str, str]:
    """Return what a function has of our environment: nothing that was not meant for it."""
    inherited = {key: os.environ[key] for key in INHERITED if key in os.environ}
    if paths := os.environ.get("PYTHONPATH"):
        # A function has a folder of its own, where relative paths would lead elsewhere.
        inherited["PYTHONPATH"] = os.pathsep.join(os.path.abspath(path) for path in paths.split(os.pathsep))
    return inherited
