"""Growth: what twice as much of a page that is made to take long costs. `python -m bench.extraction.limits` prints them all."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from ferryman.pages import read_page
from tests.pages.hostile import SHAPES

COUNT, COUNT_MAX = 100_000, 800_000
FLOOR_S = 0.05
"""What takes less is measured with more of it."""

REPEATS = 3


def measure_growth(shape: str) -> tuple[float, float]:
    """Return the seconds of processor time for `COUNT` or more and twice as much; the least of several."""
    count = COUNT
    while count < COUNT_MAX and _measure_shape(shape, count) < FLOOR_S:
        count *= 2
    turns = [(_measure_shape(shape, count), _measure_shape(shape, 2 * count)) for _ in range(REPEATS)]
    return min(half for half, _ in turns), min(whole for _, whole in turns)


def _measure_shape(shape: str, count: int) -> float:
    content = SHAPES[shape](count).encode()
    return _measure(lambda: read_page(content, "text/html", "https://bench.test/"))


def measure_alone(*arguments: str) -> Any:
    """Return a measurement in a process of its own."""
    command = [sys.executable, "-m", "bench.extraction.limits", *arguments]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def _measure(action: Callable[[], object]) -> float:
    start = time.process_time()
    action()
    return time.process_time() - start


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["growth", name]:
            print(json.dumps(measure_growth(name)))
        case _:
            for name in SHAPES:
                once, twice = measure_alone("growth", name)
                print(f"{name:46} {once:6.3f} s, twice as much {twice:6.3f} s: {twice / max(once, 1e-9):.1f}", flush=True)
