"""Commands that measure: ours and the other alternately in one process tree. Ratios of one run travel, milliseconds do not.

A bench of the table in docs/performance.md is a module `bench.NAME` with a function `rows()`, which measures and yields `Row`s,
each as soon as it is known. `bench/table.py` registers it; `make bench` runs all that are registered, one after the other, each
in a process of its own, and writes the table; `make bench ONLY=NAME` measures that one again. At its end a module says

    if __name__ == "__main__":
        sys.exit(show(rows()))

What it prints to standard error is progress. Peers live in environments that the bench makes under build/, never in .venv.
A bar that is not reached is printed as such: `reached` is false, and `note` says in a few words where the time goes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    what: str
    bar: str
    measured: str
    reached: bool
    note: str = ""


def show(rows: Iterable[Row]) -> int:
    """Print rows as they come; return the exit code: 1 where a bar was not reached."""
    is_missed = False
    for row in rows:
        print(
            f"{'reached' if row.reached else 'MISSED ':8} {row.what}: {row.measured} (bar {row.bar}) {row.note}".rstrip(),
            flush=True,
        )
        is_missed = is_missed or not row.reached
    return int(is_missed)
