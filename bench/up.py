"""The local stack: how soon `ferryman up` is ready, and how long a warm `make demo` takes, which ends all that it started.

Run with `python -m bench.up [--runs 3]`. Both are medians by the clock, which only an idle machine tells truly;
the notes have the processor time.
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench import Row, show
from bench.cpu import measure_tree

READY_S, DEMO_S = 4.0, 10.0
RUNS = 3
FERRYMAN = Path(sys.executable).with_name("ferryman")
ROOT = Path(__file__).resolve().parents[1]
ENDS_S = 60


def measure_up() -> tuple[float, float]:
    """Return the seconds until a stack of its own is ready, by the clock and of processor time."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        command = [FERRYMAN, "up", "--data", f"{folder}/data", "--json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            if not child.stdout.readline():
                raise SystemExit("the stack did not start")
            ready = time.perf_counter() - began, measure_tree(child.pid)
            child.send_signal(signal.SIGINT)
            child.wait(ENDS_S)
    return ready


def measure_demo() -> tuple[float, float]:
    """Return the seconds that `make demo` takes."""
    began, before = time.perf_counter(), _measure_children()
    subprocess.run(["make", "demo"], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began, _measure_children() - before


def rows(runs: int = RUNS) -> Iterator[Row]:
    """Measure both; the first of each fills the caches of files."""
    for what, bar, measure in (("`ferryman up` ready", READY_S, measure_up), ("warm `make demo`", DEMO_S, measure_demo)):
        figures = [measure() for _ in range(runs + 1)][1:]
        seconds, spent = (statistics.median(values) for values in zip(*figures, strict=True))
        note = f"{spent:.1f} s of processor time on {os.cpu_count()} cores; load {os.getloadavg()[0]:.1f}"
        yield Row(what, f"<= {bar:g} s", f"{seconds:.1f} s", seconds <= bar, note)


def _measure_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    sys.exit(show(rows(parser.parse_args().runs)))
