"""What the suite prints, read: scenarios that failed are counted, and so are messages that are not valid."""

from __future__ import annotations

import json
from pathlib import Path

from .__main__ import BAR, describe
from .suite import SuiteRun, count_valid, read_summary, read_warnings

SUMMARY = """
✓ tools-list: 4 passed, 0 failed
✗ caching: 7 passed, 1 failed
✓ tasks-lifecycle: 9 passed, 0 failed
✗ tasks-wire-fields: 3 passed, 1 failed

Total: 23 passed, 2 failed

Not scored for 2026-07-28: 2 scenario(s) run, 1 failing. These do not affect conformance.
  ✓ tasks-lifecycle (extension)
  ✗ tasks-wire-fields (extension)
"""


def test_failed_scenarios_are_counted() -> None:
    run = read_summary(SUMMARY)
    assert run.required == ["tools-list", "caching"]
    assert (run.count(run.required), run.count(run.tasks), run.checks) == ((1, 2), (1, 2), (23, 25))


def test_the_bar_is_not_reached_where_nothing_was_run() -> None:
    rows = describe(SuiteRun(), SuiteRun())
    assert all(rows[name] != bar for name, bar in BAR.items())


def test_warnings_and_messages_that_are_not_valid_are_read_from_the_checks(tmp_path: Path) -> None:
    for number, status in enumerate(["SUCCESS", "FAILURE"]):
        checks = [
            {"id": "wire-schema-valid", "status": status},
            {"id": "a", "status": "WARNING", "errorMessage": "why"},
            {"id": "b", "status": "SUCCESS"},
        ]
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "checks.json").write_text(json.dumps(checks))
    assert count_valid(tmp_path) == (1, 2)
    assert read_warnings(tmp_path) == ["a: why", "a: why"]
