"""`make bench`: run every bench of the table, one after the other, and write their rows into docs/performance.md.

`python -m bench NAME …` measures only these again; the rows of the others stay as they were, with their own commit and date.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

from bench import Row
from bench.page import ROOT, Entry, describe_commit, describe_machine, read_page, render, write_page
from bench.run import NO_BENCH
from bench.table import BENCHES


def run(name: str) -> list[Row]:
    """Run one bench in a process of its own, so that nothing of another stays in its memory."""
    with tempfile.NamedTemporaryFile("r") as file:
        code = subprocess.run([sys.executable, "-m", "bench.run", name, file.name], cwd=ROOT).returncode
        rows = [Row(**json.loads(line)) for line in file]
    if code == NO_BENCH:
        return [Row(what, "", "no bench measures it", reached=False) for what in BENCHES[name]]
    if code:
        rows.append(Row("; ".join(BENCHES[name]), "", f"the bench ended with exit code {code}", reached=False))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(BENCHES)}; all without any")
    names = parser.parse_args().names or list(BENCHES)
    if unknown := [name for name in names if name not in BENCHES]:
        parser.error(f"no bench of that name: {', '.join(unknown)}")
    measured = read_page()
    for number, name in enumerate(names, 1):
        print(f"{number} of {len(names)}: {name}, {time.strftime('%H:%M')} …", file=sys.stderr, flush=True)
        rows = run(name)
        for row in rows:
            print(f"    {'reached' if row.reached else 'MISSED '} {row.what}: {row.measured}", file=sys.stderr, flush=True)
        measured[name] = [Entry(row, describe_commit(), time.strftime("%Y-%m-%d")) for row in rows]
        write_page(measured)
    print(render(measured))
    print(f"{describe_machine()}, load {os.getloadavg()[0]:.1f}")
    sys.exit(not all(entry.row.reached for name in names for entry in measured[name]))


if __name__ == "__main__":
    main()
