"""What the suite prints, read: scenarios that failed are counted, and so are messages that are not valid."""

from __future__ import annotations

import json
from pathlib import Path

from .__main__ import BAR, describe
from .client_suite import REQUIRED, is_conformant, read_client_summary
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


def test_a_client_scenario_that_only_warns_has_failed_where_the_suite_says_so() -> None:
    run = read_client_summary("✓ tools_call: 2 passed, 0 failed\n✗ request-metadata: 5 passed, 0 failed, 1 warnings\n")
    assert run.count(run.required) == (1, 2)


def test_a_client_is_conformant_only_where_all_required_scenarios_were_run() -> None:
    lines = [f"✓ scenario-{number}: 1 passed, 0 failed" for number in range(REQUIRED)]
    assert is_conformant(read_client_summary("\n".join(lines)))
    assert not is_conformant(read_client_summary("\n".join(lines[1:])))
    assert not is_conformant(SuiteRun())
