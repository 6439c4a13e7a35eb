"""Processor time of a local stack's processes, by what each is for (Linux)."""

from __future__ import annotations

import os
from collections import defaultdict
from contextlib import suppress
from pathlib import Path

from ferryman.stack import environment

TICKS = os.sysconf("SC_CLK_TCK")
CLOUD = "local cloud"
FUNCTIONS = frozenset(row["name"] for row in environment.load_functions())


def measure_processes(root: int) -> dict[str, float]:
    """Return the processor seconds of `root` and all below it: functions by name, `local cloud`, and the rest as `ferryman`."""
    spent: dict[str, float] = defaultdict(float)
    for process, name in find_processes(root).items():
        with suppress(OSError):
            spent[name] += sum(map(int, _read_stat(process)[11:15])) / TICKS
    return dict(spent)


def find_processes(root: int) -> dict[int, str]:
    """Return the processes of a stack, and what each is for: a function's children are the function's."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parents[int(folder.name)] = int(_read_stat(int(folder.name))[1])
    named: dict[int, str] = {root: "ferryman"}

    def find(process: int) -> str | None:
        if process not in named and process in parents:
            above = find(parents[process])
            if above is not None:
                named[process] = _read_name(process) or above
        return named.get(process)

    return {process: name for process in [*parents] if (name := find(process)) is not None}


def _read_stat(process: int) -> list[str]:
    # the name in brackets may hold anything; what counts follows the last bracket
    return Path(f"/proc/{process}/stat").read_text(errors="replace").rpartition(")")[2].split()


def _read_name(process: int) -> str | None:
    with suppress(OSError):
        words = Path(f"/proc/{process}/cmdline").read_bytes().decode(errors="replace").split("\0")
        if any(word.endswith("/emulator/template.py") for word in words):
            # functions are forked from it, and named; by itself it is the local cloud's
            name = Path(f"/proc/{process}/comm").read_text().strip()
            return name if name in FUNCTIONS else CLOUD
        if "emulator" in words:
            return CLOUD
    return None
