"""The first execution after `ferryman up` beside later ones: how soon its first event comes and how soon it ends.

Run with `python -m bench.first_run [--runs 5]`: a stack of its own, a task with two tools and a credential, the first execution
and then others. The exit code is 1 where the first event takes more than 1.5 s, or the first execution more than twice the
median of the later ones.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.cpu import measure_tree
from ferryman.client import AsyncClient
from ferryman.stack import hello

FIRST_EVENT_S = 1.5
RATIO = 2.0
ENDS_S = 60
TASK = {
    "name": "first run",
    "description": "Asks the simulated CoinGecko twice.",
    "model": f"scripted/{hello.SCRIPT}",
    "system_prompt": "You are brief.",
    "task_prompt": "Say hello to CoinGecko.",
    "tools": ["http_get", "api_call"],
    "integrations": ["coingecko"],
}


@contextmanager
def start_stack(data: Path) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield what `ferryman up` prints for a stack of its own, and its process."""
    command = [Path(sys.executable).with_name("ferryman"), "up", "--data", data, "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        try:
            stack = json.loads(child.stdout.readline())
            yield {**stack, "key": Path(stack["key_file"]).read_text().strip()}, child.pid
        finally:
            child.send_signal(signal.SIGINT)
            child.wait(ENDS_S)


async def measure_run(client: AsyncClient, task: str) -> tuple[float, float]:
    """Return the seconds from the request that starts an execution to its first event, and to its last."""
    began = time.perf_counter()
    first = 0.0
    started = await client.start_execution(task)
    async for _ in client.stream_events(str(started["execution_id"])):
        first = first or time.perf_counter() - began
    return first, time.perf_counter() - began


async def measure(stack: dict[str, Any], process: int, runs: int) -> bool:
    """Print the first execution beside the later ones; return whether it is within the bars."""
    async with AsyncClient(stack["url"], stack["key"]) as client:
        task = (await client.create_task(TASK))["task_id"]
        key = {"service": "coingecko", "value": os.urandom(20).hex()}
        await client.set_credential(task, hello.CREDENTIAL, key)
        figures = []
        for number in range(1, runs + 1):
            before = measure_tree(process)
            event, end = await measure_run(client, task)
            figures.append((event, end))
            cpu = measure_tree(process) - before
            print(f"execution {number:2}   first event {event:6.2f} s   end {end:6.2f} s   {cpu:6.2f} CPU-s", flush=True)
    (event, end), later = figures[0], statistics.median(end for _, end in figures[1:])
    ratio = end / later
    print(f"first event after {event:.2f} s (bar {FIRST_EVENT_S:g} s)")
    print(f"the first execution takes {ratio:.2f} times as long as a later one (bar {RATIO:g})")
    return event <= FIRST_EVENT_S and ratio <= RATIO


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        with start_stack(Path(folder) / "data") as (stack, process):
            print(f"up after        {time.perf_counter() - began:6.2f} s   {measure_tree(process):6.2f} CPU-s", flush=True)
            is_met = asyncio.run(measure(stack, process, runs))
    sys.exit(not is_met)


if __name__ == "__main__":
    main()
