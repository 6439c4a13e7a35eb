"""What a newcomer waits for: a fresh clone, installed and with its demo run to the end, the installer's caches as they are.

Run with `python -m bench.cold_start`: seconds by the clock and of processor time of each stage, and its longest silence, which
is the longest time between two lines that it printed. On a machine that does other work only the processor time means anything.
The exit code is 1 where both stages together take more than 45 s by the clock.
"""

from __future__ import annotations

import itertools
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BAR_S = 45.0


@dataclass(frozen=True, slots=True)
class Stage:
    """What one command took, in seconds."""

    name: str
    clock_s: float
    cpu_s: float
    silence_s: float
    silent_after: str


def measure(name: str, *command: str, folder: Path) -> Stage:
    """Run a command in a folder, and print what it prints."""
    spent, began = _children_s(), time.perf_counter()
    last, silence, line, silent_after = began, 0.0, "", "its start"
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as child:
        assert child.stdout is not None
        for text in itertools.chain(child.stdout, [""]):
            now = time.perf_counter()
            if now - last > silence:
                silence, silent_after = now - last, line or "its start"
            last, line = now, text.strip() or line
            sys.stderr.write(f"{now - began:7.2f}  {text}")
    if child.returncode:
        raise SystemExit(f"{name} ended with exit code {child.returncode}")
    return Stage(name, time.perf_counter() - began, _children_s() - spent, silence, silent_after)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="ferryman-cold-") as folder:
        clone = Path(folder) / "ferryman"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        stages = [measure(name, "make", name, folder=clone) for name in ("install", "demo")]
    for stage in stages:
        print(f"make {stage.name:<8} {stage.clock_s:6.1f} s {stage.cpu_s:6.1f} CPU-s", end="")
        print(f"   longest silence {stage.silence_s:.1f} s, after: {stage.silent_after[:70]}")
    cpu_s, clock_s = sum(stage.cpu_s for stage in stages), sum(stage.clock_s for stage in stages)
    load = os.getloadavg()[0]
    print(f"together      {clock_s:6.1f} s {cpu_s:6.1f} CPU-s   bar {BAR_S:g} s on two idle cores; load now {load:.1f}")
    sys.exit(clock_s > BAR_S)


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
