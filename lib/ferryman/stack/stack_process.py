"""The process of a stack: which one runs the stack on a folder; another that was given its number since is told apart."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from ferryman.stack import private

ZOMBIE = "Z"


@dataclass(frozen=True, slots=True, kw_only=True)
class StackProcess:
    """A process: its number, and when it started, as the system tells it. Both together are never another's."""

    pid: int
    started: str

    @classmethod
    def from_pid(cls, pid: int) -> Self | None:
        """Return the process that has a number now; None where there is none."""
        started = _read_start(pid)
        return None if started is None else cls(pid=pid, started=started)

    def is_alive(self) -> bool:
        """Return whether that very process still runs."""
        return bool(self.started) and _read_start(self.pid) == self.started

    def send(self, number: signal.Signals) -> bool:
        """Send a signal to that very process, and to no other; return whether it was there."""
        if not hasattr(os, "pidfd_open"):
            if self.is_alive():
                os.kill(self.pid, number)
                return True
            return False
        with suppress(ProcessLookupError):
            # what the descriptor means stays the same process, whatever becomes of its number
            process = os.pidfd_open(self.pid)
            try:
                if self.is_alive():
                    signal.pidfd_send_signal(process, number)
                    return True
            finally:
                os.close(process)
        return False


@contextmanager
def note_process(data: Path) -> Iterator[None]:
    """Let others know, while inside, that this process runs the stack on `data`, whose lock it has."""
    file, process = data / private.PROCESS, StackProcess.from_pid(os.getpid())
    private.write_file(file, json.dumps(process and asdict(process)))
    try:
        yield
    finally:
        file.unlink(missing_ok=True)


def find_process(data: Path) -> StackProcess | None:
    """Return the process that runs the stack on `data`; None where none does, or where another user could have written it."""
    try:
        known = json.loads((data / private.PROCESS).read_text()) if private.is_private(data) else None
        process = StackProcess(pid=int(known["pid"]), started=str(known["started"])) if isinstance(known, dict) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return process if process is not None and process.pid > 1 and process.is_alive() else None


def _read_start(pid: int) -> str | None:
    if sys.platform != "linux":
        listing = subprocess.run(  # noqa: S603 - a number, to the system's own program
            ["/bin/ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
        )
        state, _, started = listing.stdout.strip().partition(" ")
        return started.strip() if started and not state.startswith(ZOMBIE) else None
    try:
        # the name in brackets may hold anything; what counts follows the last bracket
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return None
    return f"{boot}/{fields[19]}" if fields[0] != ZOMBIE else None
