"""The end of a run: how many lines of each seed are proven, decided otherwise or open, and which tests did not pass."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest

from tests.requirements.table import SIZES, Requirement, State, count_states, load_lines

CHECK = "tests/requirements/test_tables.py"
"""The tests that hold the tables to the code: without them a run says nothing of the counts."""
NOT_PASSED = ("failed", "error", "skipped", "xfailed")


def summarize(lines: Iterable[Requirement], failing: Collection[str]) -> list[str]:
    """Return a row for each seed, one for all, and one for each line whose proof is among the `failing` tests."""
    lines = list(lines)
    counts = count_states(lines)
    total = sum(counts.values(), start=type(counts[0])())
    rows = [(f"S{seed}", count, SIZES[seed]) for seed, count in counts.items()]
    rows.append(("all", total, len(lines)))
    summary = [f"{name:.<5} {', '.join(f'{count[state]} {state}' for state in State)}, of {size}" for name, count, size in rows]
    unproven = ((line.id, sorted(failing & set(line.tests))) for line in lines)
    return summary + [f"{number}: not proven in this run: {', '.join(tests)}" for number, tests in unproven if tests]


def to_proof(nodeid: str) -> str:
    """Return the test of a node as the tables name it: without its parameters, its file below tests/."""
    return nodeid.removeprefix("tests/").partition("[")[0]


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: Any) -> None:
    stats = terminalreporter.stats
    if any(report.nodeid.startswith(CHECK) for report in stats.get("passed", ())):
        failing = {to_proof(report.nodeid) for kind in NOT_PASSED for report in stats.get(kind, ())}
        terminalreporter.section("specification")
        for row in summarize(load_lines().values(), failing):
            terminalreporter.write_line(row)
