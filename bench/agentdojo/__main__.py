"""The command: `python -m bench.agentdojo`; with `--write` into docs/agentdojo.md and its picture."""

import argparse
import resource
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from bench.agentdojo.measuring import BenchFigures, measure, run_suite
from bench.agentdojo.picture import draw_curve
from bench.agentdojo.suites import ROOT, SUITES
from bench.agentdojo.table import render

PAGE, PICTURE = ROOT / "docs/agentdojo.md", ROOT / "docs/images/agentdojo.svg"
BEGIN, END = "<!-- agentdojo -->\n", "<!-- end of agentdojo -->\n"


def run_all() -> BenchFigures:
    """Run all of it, the suites beside each other."""
    with ProcessPoolExecutor(len(SUITES), mp_context=get_context("spawn")) as pool:
        return measure(list(pool.map(run_suite, SUITES)))


def measure_cpu_s() -> float:
    """Return the seconds of CPU that this process and those that it started have used."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def write_page(page: Path, table: str) -> None:
    """Write the tables between their markers."""
    before, _, rest = page.read_text().partition(BEGIN)
    page.write_text(f"{before}{BEGIN}\n{table}\n{END}{rest.partition(END)[2]}")


def main() -> int:
    """Measure, print and write. Return 1 where an attack has won by a call."""
    parser = argparse.ArgumentParser(prog="python -m bench.agentdojo", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write docs/agentdojo.md and docs/images/agentdojo.svg")
    options = parser.parse_args()
    started = time.monotonic()
    figures = run_all()
    table = render(figures)
    print(table)
    print(f"{time.monotonic() - started:.0f} s, of which {measure_cpu_s():.0f} s of CPU")
    if options.write:
        PICTURE.write_text(draw_curve(figures))
        write_page(PAGE, table)
    return int(any(row.won for row in (*figures.attacks, *figures.at_once)))


if __name__ == "__main__":
    sys.exit(main())
