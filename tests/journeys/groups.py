"""Groups: with several workers, whatever needs a whole stack runs on two of them, one test after the other, each with a stack.

One stack alone would take longer than all other tests beside it. The tests of a file run together too, and those that share
something else that takes long to make: on every worker it would be made again. A plugin for
`pytest -p tests.journeys.groups -n 3`. Without it each worker has a stack of its own, which is right but slow.
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


STACKS = ("a stack", "another stack")
"""What takes longest, so that it begins first."""

HALF = "tests/journeys/test_k"
"""Where the journeys are divided, in the order of the alphabet: both halves take as long."""


class Together(LoadScopeScheduling):  # type: ignore[misc] # xdist's schedulers have no types here
    """Every file is a unit, but for those of a stack, which are two, and those of each of `SHARED`."""

    def _split_scope(self, nodeid: str) -> str:
        if nodeid.startswith(STACK):
            return STACKS[nodeid > HALF]
        return next((place for place in SHARED if nodeid.startswith(place)), nodeid.partition("::")[0])

    def _assign_work_unit(self, node: Any) -> None:
        for stack in STACKS:
            if stack in self.workqueue:
                self.workqueue.move_to_end(stack, last=False)
        super()._assign_work_unit(node)

    def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
        """Forget a unit that has ended: after every test xdist counts what is open in all units that it knows."""
        super().mark_test_complete(node, item_index, duration)
        units, scope = self.assigned_work[node], self._split_scope(self.registered_collections[node][item_index])
        if all(units[scope].values()):
            del units[scope]


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling | None:
    """Return the scheduler, unless another was asked for."""
    if config.getoption("dist") != "load":
        return None
    config.option.loadscopereorder = False  # by their number of tests, the longest files would come last
    return Together(config, log)
