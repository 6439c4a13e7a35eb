"""The process of the local cloud: `python -m emulator`, started, waited for, and ended."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from ferryman.stack import private
from ferryman.stack.admin import Admin, AdminRefusedError
from ferryman.stack.preloaded import PRELOADED

READY_S = 30.0
ENDS_S = 25.0
"""Longer than the local cloud gives its functions to end."""

POLL_S = 0.01
LOG_LINES = 20


class CloudNotStartedError(RuntimeError):
    """The local cloud did not come up; the text says why."""


@dataclass(frozen=True, slots=True)
class LocalCloudProcess:
    """A running local cloud: its process, and what its ready file says."""

    child: subprocess.Popen[bytes]
    ready: dict[str, Any]

    async def wait(self) -> int:
        """Wait until the process ends by itself; its exit code."""
        return await asyncio.to_thread(self.child.wait)

    async def end(self) -> None:
        """End it with all its functions: politely, then by signal, then by force."""
        with suppress(httpx.TransportError, AdminRefusedError, OSError):
            async with Admin.from_note(self.ready) as admin:
                await admin.shutdown()
        for insist in (self.child.terminate, self.child.kill):
            with suppress(subprocess.TimeoutExpired):
                await asyncio.to_thread(self.child.wait, ENDS_S)
                return
            insist()
        await asyncio.to_thread(self.child.wait)


async def spawn(data: Path, project: str, firestore: str, *, open_to_all: bool = False) -> LocalCloudProcess:
    """Start a local cloud that keeps everything in `data`, on the Firestore that was chosen, which serves those without the
    token too where it is `open_to_all`. Raise `CloudNotStartedError`."""
    ready_file, log = data / "ready.json", data / "cloud.log"
    ready_file.unlink(missing_ok=True)
    command = [sys.executable, "-m", "emulator", "--data", str(data), "--project", project, "--ready-file", str(ready_file)]
    command += ["--with-parent", "--firestore", firestore, *["--open"] * open_to_all]
    command += [word for module in PRELOADED for word in ("--preload", module)]
    with private.create_file(log) as out:
        # a session of its own: Ctrl-C is for us, and we end it in order; where we are killed, the end of the pipe ends it
        child = subprocess.Popen(  # noqa: ASYNC220, S603 - does not wait; our own module
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=out, start_new_session=True
        )
    try:
        async with asyncio.timeout(READY_S):
            while not ready_file.exists():
                if child.poll() is not None:
                    raise CloudNotStartedError(_last_words(log))
                await asyncio.sleep(POLL_S)
    except BaseException as error:
        child.kill()
        child.wait()
        if isinstance(error, TimeoutError):
            raise CloudNotStartedError(f"the local cloud was not ready within {READY_S:g} s; see {log}") from error
        raise
    return LocalCloudProcess(child, json.loads(ready_file.read_text()))


def _last_words(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines()[-LOG_LINES:]
    if lines and lines[-1].startswith("Error: "):
        return lines[-1].removeprefix("Error: ")
    return "\n".join(["the local cloud ended at once; its log ends:", *lines])
