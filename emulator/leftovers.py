"""Leftovers: processes that a killed run left behind, found by what was noted about them, and ended."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from emulator.files import replace

GONE_S = 2.0


class ProcessRecords:
    """A file that says which process groups are running and by which command, for the run after a crash."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._noted: dict[str, list[str]] = {}

    def add(self, group: int, command: list[str]) -> None:
        """Note a group as running."""
        self._noted[str(group)] = command
        self._write()

    def remove(self, group: int) -> None:
        """Note that a group has ended."""
        self._noted.pop(str(group), None)
        self._write()

    async def end_leftovers(self) -> list[int]:
        """Kill the groups that the file names and that still run that very command, and see them gone; returns them."""
        ended = sorted(_still_running(_read(self._path)))
        for group in ended:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGKILL)
        with suppress(TimeoutError):
            async with asyncio.timeout(GONE_S):
                while any(_lives(group) for group in ended):  # noqa: ASYNC110 - they are not our children to wait for
                    await asyncio.sleep(0.01)
        self._path.unlink(missing_ok=True)
        return ended

    def _write(self) -> None:
        replace(self._path, json.dumps(self._noted, indent=1))


def _lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def _read(path: Path) -> Mapping[str, list[str]]:
    try:
        noted: dict[str, list[str]] = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return noted


def _still_running(noted: Mapping[str, list[str]]) -> set[int]:
    # The number of a group may have been given away since: only the command, with its folder and its port, proves it.
    # Its first process may be dead and a worker alive, so all members are looked at and not the leader alone.
    return {group for group, command in _processes() if command in (noted.get(str(group)), _flat(noted.get(str(group))))}


def _flat(command: list[str] | None) -> list[str] | None:
    return command and " ".join(command).split()


def _processes() -> Iterator[tuple[int, list[str]]]:
    if sys.platform != "linux":
        listing = subprocess.run(["/bin/ps", "-A", "-o", "pgid=,args="], capture_output=True, text=True, check=False)
        for line in listing.stdout.splitlines():
            group, *command = line.split()
            yield int(group), command
        return
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            command = (folder / "cmdline").read_bytes().decode(errors="replace").rstrip("\0").split("\0")
            # The name in brackets may hold anything; what counts follows the last bracket.
            stat = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
            yield int(stat[2]), command
