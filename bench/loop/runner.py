"""The process of one contestant: `python runner.py MODULE` runs what each line of its input says, and prints what it cost.

It imports nothing but the standard library and the module, in whose environment it runs. The module has a coroutine
`run(url, rounds, size)`: one conversation of `rounds` calls of a tool that answers `size` bytes.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import sys
import time
from pathlib import Path


def read_cpu_s() -> float:
    """Return the seconds of processor time of this process and of all that it started."""
    return time.process_time() + sum(_read_task_s(child) for child in _list_descendants(os.getpid()))


def _list_descendants(process: int) -> list[int]:
    children = [int(child) for path in Path(f"/proc/{process}/task").glob("*/children") for child in path.read_text().split()]
    return [*children, *(below for child in children for below in _list_descendants(child))]


def _read_task_s(process: int) -> float:
    return sum(int(path.read_text().split()[0]) for path in Path(f"/proc/{process}/task").glob("*/schedstat")) / 1e9


async def measure(module: object, order: dict) -> dict:
    """Run `times` conversations, one after the other or all at once, and return what they took."""
    conversation = order["url"], order["rounds"], order["size"]
    begun, process_s, cpu_s = time.perf_counter(), time.process_time(), read_cpu_s()
    if order.get("at_once"):
        await asyncio.gather(*(module.run(*conversation) for _ in range(order["times"])))
    else:
        for _ in range(order["times"]):
            await module.run(*conversation)
    spent = {"cpu_ms": read_cpu_s() - cpu_s, "own_ms": time.process_time() - process_s, "wall_ms": time.perf_counter() - begun}
    return {name: seconds * 1000 for name, seconds in spent.items()}


async def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what a library prints, or a log writes, is no answer
    module = importlib.import_module(sys.argv[1])
    while line := await asyncio.to_thread(sys.stdin.readline):
        print(json.dumps(await measure(module, json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    del sys.path[0]  # this folder, whose modules are not to be found under their bare names
    asyncio.run(main())
