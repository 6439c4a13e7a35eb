"""Seconds of processor time of a process and of all that it started, in whatever session (Linux)."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def measure_tree(root: int) -> float:
    """Return the user and system seconds of `root` and its descendants, those that have ended included."""
    parents, spent = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            # the name in brackets may hold anything; what counts follows the last bracket
            stat = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
            parents[int(folder.name)] = int(stat[1])
            spent[int(folder.name)] = sum(map(int, stat[11:15])) / TICKS
    return sum(seconds for process, seconds in spent.items() if _descends(process, root, parents))


def _descends(process: int, root: int, parents: dict[int, int]) -> bool:
    while process not in (0, root):
        process = parents.get(process, 0)
    return process == root
