"""Where the processor time of one execution and of one call goes: text and flame graphs of a loaded local stack, by py-spy.

Run with `make profile`, which installs py-spy into an environment of its own. The load is that of `bench.stack`; every process
that works under it is sampled, and weighs what it took of the processor. Writes docs/images/profile-execution.svg, with all
processes side by side, profile-call.svg, the tool function alone, and the same as text into docs/performance.md.
`python -m bench.profile --process "local cloud"` prints another process alone, and writes nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.flames import Stacks, draw, fold, list_functions, weigh
from bench.page import ROOT, write_between
from bench.processes import find_processes
from bench.stack import CALLS, LIFTED, Load, open_starters, run_load
from tests.stack import start_stack

PY_SPY = ROOT / "build/profile/venv/bin/py-spy"
IMAGES = ROOT / "docs/images"
PAGE = ROOT / "docs/performance.md"
TOOL = "api_call"
RATE = 100
"""Samples of each process a second. Some twenty processes are sampled on the cores that they run on, and a call that waits for
the processor too long ends by its time limit."""

ENDS_S = 30


@contextmanager
def sample(processes: Mapping[int, str], folder: Path) -> Iterator[Counter[Stacks]]:
    """Sample processes while inside; what was seen is there afterwards, by process name and functions."""
    seen: Counter[Stacks] = Counter()
    watches = {}
    for process in processes:
        command = [PY_SPY, "record", "--pid", str(process), "--format", "raw", "--rate", str(RATE), "--duration", "3600"]
        command += ["--nonblocking", "--output", folder / f"{process}.txt"]
        watches[process] = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield seen
    finally:
        for watch in watches.values():
            watch.send_signal(2)  # it writes what it has on an interrupt
        for process, watch in watches.items():
            watch.wait(ENDS_S)
            path = folder / f"{process}.txt"
            if path.exists():
                seen.update(fold(path.read_text(), processes[process]))


async def profile(stack: Mapping[str, Any], executions: int, at_once: int) -> tuple[Load, Counter[Stacks]]:
    """Load a stack that is warm, and sample it."""
    async with open_starters(stack, at_once) as starters:
        await run_load(stack, starters, at_once)
        with tempfile.TemporaryDirectory() as folder, sample(find_processes(stack["pid"]), Path(folder)) as seen:
            await asyncio.sleep(1)
            load = await run_load(stack, starters, executions)
        return load, seen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--executions", type=int, default=96)
    parser.add_argument("--at-once", type=int, default=16)
    parser.add_argument("--write", action="store_true", help="write the page and the pictures, too")
    parser.add_argument("--process", help="print this process alone")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ferryman-profile-") as folder:
        data = Path(folder) / "data"
        with start_stack(data, FERRYMAN_PLANS=json.dumps({"pro": LIFTED})) as stack:
            load, seen = asyncio.run(profile(stack, options.executions, options.at_once))
    seen = weigh(seen, load.cpu_s)
    print(f"{load.describe()}\n")
    if options.process:
        print(list_functions(select(seen, options.process), 70))
        return
    call = select(seen, TOOL)
    for name, title, stacks in (
        ("execution", f"one execution of {CALLS} calls", seen),
        ("call", f"one of its calls: {TOOL}", call),
    ):
        text = f"{title}, by processor time\n{list_functions(stacks)}"
        picture = (IMAGES if options.write else ROOT / "build/profile") / f"profile-{name}.svg"
        picture.write_text(draw(stacks, title))
        print(f"{text}\ndrawn to {picture}\n")
        if options.write:
            write_between(PAGE, f"<!-- profile of {name} -->\n", f"<!-- end of profile of {name} -->\n", f"```\n{text}```\n")


def select(seen: Counter[Stacks], process: str) -> Counter[Stacks]:
    """Return what was seen of one process."""
    return Counter({frames: count for frames, count in seen.items() if frames[0] == process})


if __name__ == "__main__":
    main()
