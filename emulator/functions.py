"""Functions: each deployed one as a process of the real functions-framework, in an environment of its own.

It is forked from a template that has imported what all of them need (`template`): eight would import for ten seconds."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from emulator import guard
from emulator.forking import SHARED, ForkedProcess, TemplateEndedError, TemplateProcess, inherit_environment
from emulator.freezing import BEHIND, RequestFront
from emulator.leftovers import ProcessRecords
from emulator.ports import Ports
from emulator.table import FunctionRow
from emulator.web import LOOPBACK, port_of

log = logging.getLogger(__name__)

READY_S = 30.0
GRACE_S = 5.0
TAIL_LINES = 40


class FunctionFailedError(Exception):
    """A function did not come up; the text holds the end of its log."""


@dataclass(slots=True)
class _Process:
    child: ForkedProcess
    watch: asyncio.Task[None]
    ready: bool = False

    @property
    def alive(self) -> bool:
        return self.child.returncode is None

    def signal(self, number: signal.Signals) -> None:
        """Signal the whole group, and only while its leader lives: afterwards the number may be another's."""
        if self.alive:
            with suppress(ProcessLookupError):
                os.killpg(self.child.pid, number)


class Functions:
    """The functions of a table: their addresses are known from `start` on, their processes come and go."""

    def __init__(
        self,
        rows: Mapping[str, FunctionRow],
        *,
        source: Path,
        folder: Path,
        ports: Ports,
        templates: Mapping[str, TemplateProcess] | None = None,
        freezes: bool = False,
    ) -> None:
        self._rows = rows
        self._freezes = freezes
        self._fronts: dict[str, RequestFront] = {}
        self._source = source.resolve()
        self._folder = folder
        self._ports = ports
        self._templates = {SHARED: TemplateProcess(folder), **(templates or {})}
        self._notes = ProcessRecords(folder / "processes.json")
        self._guard: subprocess.Popen[bytes] | None = None
        self._running: dict[str, _Process] = {}
        self._locks = {name: asyncio.Lock() for name in rows}
        self._port: dict[str, int] = {}
        self._ending = False
        (folder / "logs").mkdir(mode=0o700, exist_ok=True)

    @property
    def rows(self) -> Mapping[str, FunctionRow]:
        """The table."""
        return self._rows

    def url(self, name: str) -> str:
        """Return where a function answers once it runs."""
        return f"http://{LOOPBACK}:{self._port[name]}"

    def status(self, name: str) -> dict[str, object]:
        """Return address, process and state: stopped, starting, running or died, the last with the end of the log."""
        process = self._running.get(name)
        base: dict[str, object] = {"name": name, "url": self.url(name), "pid": None, "state": "stopped"}
        if process is None:
            return base
        if not process.alive:
            return base | {"state": "died", "exit": process.child.returncode, "log": self.tail(name)}
        return base | {"pid": process.child.pid, "state": "running" if process.ready else "starting"}

    def tail(self, name: str) -> str:
        """Return the end of a function's log."""
        with suppress(OSError):
            return "\n".join(self._log(name).read_text(errors="replace").splitlines()[-TAIL_LINES:])
        return ""

    async def start(self) -> None:
        """End what a killed run left, take the ports, and set a guard so that no function outlives this process."""
        await self._notes.end_leftovers()
        for name in self._rows:
            if self._freezes:
                await self._open_front(name)
            else:
                self._port[name] = self._ports.hold(f"functions/{name}")
        # Started before anything could be inherited; isolated and bare, since it needs nothing but the standard library.
        command = [sys.executable, "-I", "-S", guard.__file__]
        self._guard = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)  # noqa: ASYNC220, S603 - nothing waits for it, and it is our own file
        for template in self._templates.values():
            if template.group is not None:
                self.guard(template.group)

    def guard(self, group: int) -> None:
        """Have a group of processes killed when this process is."""
        self._tell_guard("+", group)

    def unguard(self, group: int) -> None:
        """Stop guarding a group, which is ended in order."""
        self._tell_guard("-", group)

    async def run(self, name: str, env: Mapping[str, str]) -> dict[str, object]:
        """Start or restart a function with `env` beside PATH and HOME; return its status when it answers. Raise
        FunctionFailedError."""
        async with self._locks[name]:
            if self._ending:
                raise FunctionFailedError(f"{name} is not started: the local cloud is ending")
            await self._end(name)
            child = await self._spawn(name, env)
            process = self._running[name] = _Process(child, asyncio.create_task(self._watch(name, child)))
            try:
                await self._answers(name, process)
            except BaseException:
                process.signal(signal.SIGKILL)
                await process.watch
                raise
            finally:
                if not self._freezes:
                    self._ports.secure(f"functions/{name}")
            process.ready = True
            if name in self._fronts:
                self._fronts[name].rest()
            return self.status(name)

    async def stop(self, name: str) -> bool:
        """End a function and what it started: politely, then by force. False if it was not started."""
        async with self._locks[name]:
            return await self._end(name)

    async def kill(self, name: str) -> bool:
        """Let a function die at this very moment, as an instance may. False if it was not running."""
        process = self._running.get(name)
        if process is None or not process.alive:
            return False
        process.signal(signal.SIGKILL)
        await process.watch
        return True

    def kill_all(self) -> None:
        """Let all functions die at this very moment, and start none any longer."""
        self._ending = True
        for process in self._running.values():
            process.signal(signal.SIGKILL)

    async def close(self) -> None:
        """End all functions, and the guard last."""
        self._ending = True
        for front in self._fronts.values():
            front.close()
        for process in self._running.values():
            if not process.ready:
                process.signal(signal.SIGKILL)
        await asyncio.gather(*(self.stop(name) for name in self._rows))
        for template in self._templates.values():
            await template.close()
        if self._guard is not None and self._guard.stdin is not None:
            self._guard.stdin.close()
            await asyncio.to_thread(self._guard.wait)

    @property
    def _host(self) -> str:
        """Where processes listen."""
        return BEHIND if self._freezes else LOOPBACK

    async def _open_front(self, name: str) -> None:
        sock = self._ports.bind(f"functions/{name}")
        front = RequestFront(
            sock, freeze=partial(self._signal, name, signal.SIGSTOP), thaw=partial(self._signal, name, signal.SIGCONT)
        )
        await front.start()
        self._port[name], self._fronts[name] = port_of(sock), front

    def _signal(self, name: str, number: signal.Signals) -> None:
        process = self._running.get(name)
        if process is not None and process.ready:
            process.signal(number)

    def _log(self, name: str) -> Path:
        return self._folder / "logs" / f"{name}.log"

    def _find_template(self, name: str) -> TemplateProcess:
        return self._templates.get(name) or self._templates[SHARED]

    async def _spawn(self, name: str, env: Mapping[str, str]) -> ForkedProcess:
        main = self._source / name / "main.py"
        if not main.is_file():
            raise FunctionFailedError(f"{name} has no {main}")
        runtime = self._folder / "run" / name
        runtime.mkdir(mode=0o700, parents=True, exist_ok=True)
        template = self._find_template(name)
        arguments = ["--target", "main", "--source", str(main), "--host", self._host, "--port", str(self._port[name])]
        # gunicorn opens a control socket, in the home folder and under one name for all unless it is led elsewhere.
        runtime_env = {"XDG_RUNTIME_DIR": str(runtime)}
        if not self._freezes:
            # a server that was frozen for so long would take its own worker for dead
            runtime_env["CLOUD_RUN_TIMEOUT_SECONDS"] = str(self._rows[name].timeout_s)
            self._ports.release(f"functions/{name}")
        with self._log(name).open("ab") as log:
            environment = {**inherit_environment(), **runtime_env, **env}
            try:
                child = await template.fork(name, arguments, env=environment, folder=main.parent, log=log.fileno())
            except TemplateEndedError as error:
                raise FunctionFailedError(f"{name} is not started: {error}") from error
        for group in filter(None, (template.group, child.pid)):
            self.guard(group)
        self._notes.add(child.pid, template.command)
        return child

    async def _answers(self, name: str, process: _Process) -> None:
        try:
            async with asyncio.timeout(READY_S):
                while process.alive:
                    with suppress(OSError):
                        _, writer = await asyncio.open_connection(self._host, self._port[name])
                        writer.close()
                        await writer.wait_closed()
                        return
                    await asyncio.sleep(0.02)
        except TimeoutError as error:
            raise FunctionFailedError(
                f"{name} did not answer within {READY_S:g} s; its log ends:\n{self.tail(name)}"
            ) from error
        raise FunctionFailedError(f"{name} ended with exit code {process.child.returncode}; its log ends:\n{self.tail(name)}")

    async def _end(self, name: str) -> bool:
        process = self._running.pop(name, None)
        if process is None:
            return False
        process.signal(signal.SIGTERM)
        process.signal(signal.SIGCONT)  # one that is frozen ends, too
        await asyncio.wait([process.watch], timeout=GRACE_S)
        process.signal(signal.SIGKILL)
        await process.watch
        return True

    async def _watch(self, name: str, child: ForkedProcess) -> None:
        code = await child.wait()
        # A worker that lost its leader would keep the port.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        self._notes.remove(child.pid)
        self._tell_guard("-", child.pid)
        self._find_template(name).release(child)
        process = self._running.get(name)
        if process and process.child is child and process.ready and code != -signal.SIGKILL:
            log.warning("function %s died with exit code %d; its log ends:\n%s", name, code, self.tail(name))

    def _tell_guard(self, sign: str, group: int) -> None:
        if self._guard is not None and self._guard.stdin is not None:
            with suppress(BrokenPipeError):
                self._guard.stdin.write(f"{sign}{group}\n".encode())
                self._guard.stdin.flush()
