"""The first page of the console on an `api` that has just started, beside the first answer of its API, in one run.

Run with `python -m bench.console_start [--pairs 5]`. Both are the same function, served by the bare functions-framework beside
a local stack, each time a process of its own, in turns: one is called as a client of the API calls it, the other is asked for
the page on which people sign in, for which the console is imported, a template compiled and the styles read. The second page
of the same process has them.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench import Row, show
from bench.beside import start_function
from tests.imports.table import FirstCall, prepare
from tests.stack import start_stack

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "functions/api/main.py"
PAGE = "/console/sign-in"
BAR = 1.5
AGAIN_BAR_S = 0.05
PAIRS = 5


@dataclass(frozen=True, slots=True)
class ConsoleStart:
    """Seconds from the start of a process to the first answer of use of the API, or to the first page; and of a second page."""

    called_s: float
    page_s: float
    again_s: float


def measure(first: FirstCall) -> ConsoleStart:
    """Start the function twice: once for the API, and once for pages."""
    with start_function(SOURCE, first.env) as function:
        assert function.send(first.call) == first.status
        called = function.clock_s
    with start_function(SOURCE, first.env) as function:
        assert function.ask(PAGE) == 200
        page = function.clock_s
        assert function.ask(PAGE) == 200
        return ConsoleStart(called, page, function.clock_s - page)


def rows(pairs: int = PAIRS) -> Iterator[Row]:
    """Measure both on a stack of their own, after one of each that is not counted."""
    with tempfile.TemporaryDirectory(prefix="console-") as folder, start_stack(Path(folder) / "data") as stack:
        first = asyncio.run(prepare(stack, "api"))
        measured = [measure(first) for _ in range(pairs + 1)][1:]
    ratio = statistics.median(start.page_s / start.called_s for start in measured)
    page, again = statistics.median(start.page_s for start in measured), statistics.median(start.again_s for start in measured)
    yield Row(
        "first page of the console on a new instance, over the first answer of use of the API on one",
        f"<= {BAR:g}x",
        f"{ratio:.2f}x",
        ratio <= BAR,
        f"{page:.2f} s, load {os.getloadavg()[0]:.0f}",
    )
    yield Row(
        "the second page of the same instance",
        f"<= {AGAIN_BAR_S * 1000:g} ms",
        f"{again * 1000:.0f} ms",
        again <= AGAIN_BAR_S,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=PAIRS)
    sys.exit(show(rows(parser.parse_args().pairs)))
