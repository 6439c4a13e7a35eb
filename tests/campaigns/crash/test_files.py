"""Writes of files, killed before and after every step of their path: one write, and a quota that is the bucket's sum."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from ferryman.domain.executions.execution import Status
from ferryman.domain.files.quota import FileQuota
from ferryman.domain.owners.plan import PRO
from ferryman.domain.workspaces.workspace import BEGINNING, Workspace
from ferryman.inmemory.clock import ManualClock
from ferryman.inmemory.file_quotas import MemoryFileQuotas
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.objects import MemoryObjects
from ferryman.inmemory.tickets import MemoryTickets
from tests.builders import build_execution, build_lease, build_policy, build_task, build_ticket
from tests.campaigns.crash.points import InstrumentedPort
from tests.tools.files.path import FilePath, NoSecrets

W = build_execution().workspace
DELIVERIES_MAX = 5
CALLS: Mapping[str, tuple[str, Mapping[str, Any], str]] = {
    "a new file": ("file_write", {"key": "new.md", "content": "x" * 60}, "x" * 60),
    "over a file": ("file_write", {"key": "a.md", "content": "y" * 7}, "y" * 7),
    "an edit": ("file_edit", {"key": "a.md", "old_text": "two", "new_text": "2 and more"}, "one 2 and more three"),
    "an edit that is refused": ("file_edit", {"key": "a.md", "old_text": "none", "new_text": "x"}, "one two three"),
}


class KilledError(BaseException):
    """The process ends here."""


class Killer:
    """Kills at the point of a number, counted over all steps; without a number it counts them."""

    def __init__(self, target: int | None = None) -> None:
        self.count, self._target = 0, target

    async def meet(self, *_: str) -> None:
        self.count += 1
        if self.count - 1 == self._target:
            raise KilledError


async def run(name: str, killer: Killer) -> tuple[Memory, FilePath]:
    """Deliver a call until it is settled, in a workspace that has a file of 13 bytes; return what is stored then."""
    tool, arguments, _ = CALLS[name]
    memory, clock = Memory(), ManualClock()
    policy = build_policy(plan=replace(PRO, file_bytes=1_000), tools=(tool,))
    memory.executions["e"] = build_execution(status=Status.RUNNING, lease=build_lease(), policy=policy)
    memory.tasks["t"] = build_task()
    memory.workspaces[W] = Workspace(id=W, owner="o", name="W", created_at=BEGINNING, updated_at=BEGINNING)
    memory.tickets["e"] = {0: build_ticket(tool=tool, display_arguments=arguments)}
    memory.file_quotas[W] = FileQuota(id=W, used_bytes=13)
    objects = MemoryObjects(clock)
    plain = FilePath(MemoryTickets(memory), MemoryFileQuotas(memory), objects, NoSecrets(), clock)
    await plain.files.write(W, "a.md", b"one two three", content_type="text/plain", write="before")
    ports = {
        "tickets": MemoryTickets(memory),
        "quotas": MemoryFileQuotas(memory),
        "objects": objects,
        "scanner": NoSecrets(),
    }
    for _ in range(DELIVERIES_MAX):
        # each delivery is another process, which remembers nothing
        path = FilePath(**{kind: InstrumentedPort(port, kind, killer.meet) for kind, port in ports.items()}, clock=clock)  # type: ignore[arg-type]
        try:
            settled = await path.calls.execute(memory.tickets["e"][0], execution=memory.executions["e"])
        except KilledError:
            clock.turn(timedelta(minutes=2))
            lease = build_lease(expires_at=clock.now() + timedelta(minutes=2))
            memory.executions["e"] = replace(memory.executions["e"], lease=lease)
            continue
        assert settled.result is not None
        return memory, plain
    raise AssertionError("the call was not settled")


async def check(name: str, point: int) -> None:
    """Kill the call at a point, and check what is stored in the end."""
    _, arguments, expected = CALLS[name]
    memory, path = await run(name, Killer(point))
    stored = (await path.files.read(W, arguments["key"])).content.decode()
    assert stored == expected, point
    files = (await path.files.list(W, "")).entries
    # nothing stays reserved, and what counts is what is there
    assert memory.file_quotas[W] == FileQuota(id=W, used_bytes=sum(entry.size_bytes for entry in files))
    result = memory.tickets["e"][0].result
    assert result is not None
    assert result.ok is (name != "an edit that is refused")
    # the version counts the writes: one before, and one at most by the call
    last = await path.objects.head(f"workspaces/{W}/{arguments['key']}")
    assert last is not None
    assert last.version == ("1" if name == "an edit that is refused" else "2")


@pytest.mark.parametrize("name", list(CALLS))
async def test_a_write_that_is_killed_at_any_point_happens_once_and_counts_once(name: str) -> None:
    counter = Killer()
    await run(name, counter)
    assert counter.count >= 10
    for point in range(counter.count):
        await check(name, point)
