"""The expiry of kept results, killed before and after every step: what is stored is what counts, and all of it goes."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from ferryman.inmemory.file_quotas import MemoryFileQuotas
from ferryman.inmemory.workspaces import MemoryWorkspaces
from ferryman.tools.files.workspace_files import WorkspaceFiles
from ferryman.tools.keeping.expiry import ExpiryDependencies, deliver
from tests.campaigns.crash.points import InstrumentedPort
from tests.campaigns.crash.test_files import KilledError, Killer
from tests.tools.keeping.test_expiry import OLD, TODAY, YOUNG, Shelf, W

KEYS = (OLD, OLD.replace("0.txt", "1.txt"), YOUNG)


async def run(killer: Killer) -> Shelf:
    """Deliver a slice of two expired results and one that is not, until a process ends it."""
    shelf = Shelf()
    await shelf.fill(*KEYS)

    def watch(port: Any, name: str) -> Any:
        return InstrumentedPort(port, name, killer.meet)

    for _ in range(2):
        deps = ExpiryDependencies(
            files=WorkspaceFiles(watch(shelf.objects, "objects")),
            quotas=watch(MemoryFileQuotas(shelf.memory), "quotas"),
            workspaces=watch(MemoryWorkspaces(shelf.memory), "workspaces"),
            timers=watch(shelf.timers, "timers"),
            clock=shelf.deps.clock,
            ids=shelf.deps.ids,
            tracer=shelf.deps.tracer,
            period=shelf.deps.period,
        )
        with suppress(KilledError):
            assert await deliver(deps, W, owner="o", day=TODAY, slice=0, cursor="")
            break
    return shelf


POINTS = 30
"""Before and after each of: workspace, list, timer; and of each deletion: reservation, look, write, count, look, removal."""


@pytest.mark.parametrize("point", range(POINTS))
async def test_a_slice_that_is_killed_at_any_point_deletes_and_counts_once(point: int) -> None:
    shelf = await run(Killer(point))
    assert list(shelf.objects._objects) == [f"workspaces/{W}/{YOUNG}"]
    quota = shelf.memory.file_quotas[W]
    assert (quota.used_bytes, quota.reserved_bytes) == (100, 0)
    assert len(shelf.timers.waiting) == 1


async def test_there_are_no_more_points() -> None:
    counter = Killer()
    await run(counter)
    assert counter.count == POINTS
