"""Groups: with several workers, whatever needs a whole stack runs on one of them, one test after the other.

A plugin for `pytest -p tests.journeys.groups -n 2`. Without it each worker has a stack of its own, which is right but slow.
"""

from __future__ import annotations

from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

STACK = ("tests/journeys/", "tests/cli/test_up.py")


class Together(LoadScopeScheduling):  # type: ignore[misc] # xdist's schedulers have no types here
    """Every test is a unit of its own, but for those of a stack, which are one."""

    def _split_scope(self, nodeid: str) -> str:
        return "stack" if nodeid.startswith(STACK) else nodeid


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling | None:
    """Return the scheduler, unless another was asked for."""
    return Together(config, log) if config.getoption("dist") == "load" else None
