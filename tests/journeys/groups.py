"""Groups: with several workers, whatever needs a whole stack runs on one of them, one test after the other.

So do the tests that share something else that takes long to make: on every worker it would be made again. A plugin for
`pytest -p tests.journeys.groups -n 2`. Without it each worker has a stack of its own, which is right but slow.
"""

from __future__ import annotations

from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

STACK = ("tests/journeys/", "tests/cli/test_up.py")
SHARED = (
    "tests/architecture/",  # the sources, read and judged
    "tests/infra/",  # the archives, what is installed, the locks
    "tests/serving/",  # the routes and the description of the API
)
"""Folders and files whose tests share what is made once in a process."""


WHOLE_STACK = "stack"


class Together(LoadScopeScheduling):  # type: ignore[misc] # xdist's schedulers have no types here
    """Every test is a unit of its own, but for those of a stack, which are one, and those of each of `SHARED`."""

    def _split_scope(self, nodeid: str) -> str:
        if nodeid.startswith(STACK):
            return WHOLE_STACK
        return next((place for place in SHARED if nodeid.startswith(place)), nodeid)

    def _assign_work_unit(self, node: Any) -> None:
        if WHOLE_STACK in self.workqueue:
            self.workqueue.move_to_end(WHOLE_STACK, last=False)  # it takes longest
        super()._assign_work_unit(node)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling | None:
    """Return the scheduler, unless another was asked for."""
    return Together(config, log) if config.getoption("dist") == "load" else None
