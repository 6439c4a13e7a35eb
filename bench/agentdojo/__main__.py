"""The command: `python -m bench.agentdojo`; with `--write` into docs/agentdojo.md and its picture."""

import argparse
import sys
from pathlib import Path

from bench.agentdojo.measuring import BenchFigures, measure_attacks, measure_curve
from bench.agentdojo.picture import draw_curve
from bench.agentdojo.runs import Bench, Setting
from bench.agentdojo.suites import ROOT, SuiteProcess
from bench.agentdojo.table import render

PAGE, PICTURE = ROOT / "docs/agentdojo.md", ROOT / "docs/images/agentdojo.svg"
BEGIN, END = "<!-- agentdojo -->\n", "<!-- end of agentdojo -->\n"


def measure() -> BenchFigures:
    """Run all of it."""
    with SuiteProcess() as process, Bench(process) as bench:
        curve, strict = (measure_curve(bench, is_json=is_json) for is_json in (True, False))
        controls = bench.run_pairs_plain(), bench.run_pairs(Setting(has_policy=False))
        return BenchFigures(
            tasks=curve.tasks,
            pairs=len(bench.list_pairs()),
            curve=curve,
            strict=strict,
            attacks=measure_attacks(*controls, bench.run_pairs(Setting())),
            at_once=measure_attacks(*controls, bench.run_pairs(Setting(at_once=True))),
        )


def write_page(page: Path, table: str) -> None:
    """Write the tables between their markers."""
    before, _, rest = page.read_text().partition(BEGIN)
    page.write_text(f"{before}{BEGIN}\n{table}\n{END}{rest.partition(END)[2]}")


def main() -> int:
    """Measure, print and write. Return 1 where an attack has won by a call."""
    parser = argparse.ArgumentParser(prog="python -m bench.agentdojo", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write docs/agentdojo.md and docs/images/agentdojo.svg")
    options = parser.parse_args()
    figures = measure()
    table = render(figures)
    print(table)
    if options.write:
        PICTURE.write_text(draw_curve(figures))
        write_page(PAGE, table)
    return int(any(row.won for row in (*figures.attacks, *figures.at_once)))


if __name__ == "__main__":
    sys.exit(main())
