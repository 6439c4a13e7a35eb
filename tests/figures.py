"""Figures: counts per class, kept by tests and printed as one table when all have run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

Tally = Callable[[str, str, bool], None]

_PASSED: Counter[tuple[str, str]] = Counter()
_ALL: Counter[tuple[str, str]] = Counter()


@pytest.fixture(scope="session")
def tally() -> Tally:
    """Counts one case: `tally(group, klass, passed)`. It asserts nothing."""

    def count(group: str, klass: str, passed: bool) -> None:
        _ALL[group, klass] += 1
        _PASSED[group, klass] += passed

    return count


def pytest_sessionfinish(session: pytest.Session) -> None:
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["figures"] = [(*key, _PASSED[key], _ALL[key]) for key in _ALL]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    for group, klass, passed, total in getattr(node, "workeroutput", {}).get("figures", ()):
        _PASSED[group, klass] += passed
        _ALL[group, klass] += total


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if _ALL:
        terminalreporter.section("figures")
    for group, klass in sorted(_ALL):
        terminalreporter.write_line(f"{group} / {klass}: {_PASSED[group, klass]} passed of {_ALL[group, klass]}")
