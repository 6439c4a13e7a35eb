"""A process that dies at any line leaves no worker behind, not one in the midst of a text that takes years."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

PROGRAM = """
import asyncio
from ferryman.offload import TEXT, Budget, WorkerPool
from tests.offload import jobs

async def main():
    pool = WorkerPool()
    print(await pool.run("a", TEXT, jobs.process), flush=True)
    await pool.run("a", Budget(cpu_s=600, wall_s=600, memory_bytes=TEXT.memory_bytes), jobs.backtrack)

asyncio.run(main())
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked for in /proc")
def test_a_killed_function_leaves_no_worker():
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        worker = int(program.stdout.readline())
        server = _parent(worker)
        _until(lambda: _ticks(worker) > 10, "the worker never began")
        program.kill()
    _until(lambda: not _lives(worker) and not _lives(server), "a process was left")


def _parent(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def _ticks(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11])


def _lives(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _until(condition, why: str) -> None:
    for _ in range(1_000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError(why)
