"""Long results, killed before and after every step of their way into a file: the record names what the call settled with."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import Any

import pytest

from ferryman.domain.calls.call import CALL_ATTEMPTS_MAX, ToolCallResult
from ferryman.domain.calls.keyless_answer import KeylessAnswer
from ferryman.domain.executions.execution import Status
from ferryman.domain.files.quota import SETTLED_LIFETIME, FileQuota
from ferryman.domain.owners.plan import PRO
from ferryman.domain.workspaces.workspace import BEGINNING, Workspace
from ferryman.inmemory.clock import ManualClock
from ferryman.inmemory.file_quotas import MemoryFileQuotas
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.objects import MemoryObjects
from ferryman.inmemory.queue import MemoryKeptTimers
from ferryman.inmemory.tickets import MemoryTickets
from ferryman.tools.files.workspace_files import WorkspaceFiles
from ferryman.tools.keeping.room import FileRoom
from ferryman.tools.keeping.storing import KeptFiles
from ferryman.tools.keyless.calling import KeylessCalls
from ferryman.tools.keyless.keeping import ResultFiles
from tests.builders import build_execution, build_lease, build_policy, build_task, build_ticket
from tests.campaigns.crash.points import InstrumentedPort
from tests.campaigns.crash.test_files import KilledError, Killer
from tests.tools.files.path import NoSecrets

W = build_execution().workspace
LENGTH = 120_000
PERIOD = timedelta(days=30)
TOOL = "web_search_tool"


class Run:
    """One call whose answer is another text each time, and every process that delivers it."""

    def __init__(self, killer: Killer) -> None:
        self.memory, self.clock, self._killer = Memory(), ManualClock(), killer
        policy = build_policy(plan=replace(PRO, file_bytes=1_000_000), tools=(TOOL, "file_read"), credentials=("KEY",))
        self.memory.executions["e"] = build_execution(status=Status.RUNNING, lease=build_lease(), policy=policy)
        self.memory.tasks["t"] = build_task()
        self.memory.workspaces[W] = Workspace(id=W, owner="o", name="W", created_at=BEGINNING, updated_at=BEGINNING)
        self.begin(0)
        self._objects, self._texts, self.timers = MemoryObjects(self.clock), count(), MemoryKeptTimers()
        self.files = WorkspaceFiles(self._objects)

    def begin(self, seq: int) -> None:
        """Store the ticket of a call."""
        self.memory.tickets.setdefault("e", {})[seq] = build_ticket(seq=seq, tool=TOOL, display_arguments={})

    async def ask(self, function: str, body: Mapping[str, Any]) -> KeylessAnswer:
        return KeylessAnswer(f"{next(self._texts)} ".ljust(LENGTH, "x"))

    def _start(self) -> KeylessCalls:
        """Return the calls of a process that remembers nothing."""
        meet = self._killer.meet
        tickets: Any = InstrumentedPort(MemoryTickets(self.memory), "tickets", meet)
        scanner: Any = InstrumentedPort(NoSecrets(), "scanner", meet)
        quotas: Any = InstrumentedPort(MemoryFileQuotas(self.memory), "quotas", meet)
        files: Any = WorkspaceFiles(InstrumentedPort(self._objects, "objects", meet))  # type: ignore[arg-type]
        room = FileRoom(files=files, quotas=quotas, clock=self.clock)
        timers: Any = InstrumentedPort(self.timers, "timers", meet)
        results = ResultFiles(files=KeptFiles(room=room, timers=timers, period=PERIOD), scanner=scanner)
        return KeylessCalls(tickets=tickets, scanner=scanner, clock=self.clock, ask=self.ask, results=results)

    async def deliver(self, seq: int = 0) -> ToolCallResult:
        """Deliver the call until it is settled."""
        for _ in range(CALL_ATTEMPTS_MAX + 1):
            try:
                settled = await self._start().execute(self.memory.tickets["e"][seq], execution=self.memory.executions["e"])
            except KilledError:
                self.turn(timedelta(minutes=2))
                continue
            assert settled.result is not None
            return settled.result
        raise AssertionError("the call was not settled")

    def turn(self, by: timedelta) -> None:
        """Let time pass, and another process take the lease."""
        self.clock.turn(by)
        lease = build_lease(expires_at=self.clock.now() + timedelta(minutes=2))
        self.memory.executions["e"] = replace(self.memory.executions["e"], lease=lease)


POINTS = 18
"""Before and after each of: claim, three scans, timer, reservation, look and write in the bucket, settlement."""


@pytest.mark.parametrize("point", range(POINTS))
async def test_a_result_that_is_killed_at_any_point_is_kept_as_it_was_settled_and_counts(point: int) -> None:
    run = Run(Killer(point))
    result = await run.deliver()
    body, file = result.parts
    assert file.file is not None
    content = (await run.files.read(W, file.file)).content
    assert file.sha256 == hashlib.sha256(content).hexdigest()
    assert content.decode().startswith(result.content[body.start : body.end])
    # a day later the next write counts what the killed one may have left: then the quota is the sum of what is there
    run.turn(SETTLED_LIFETIME + timedelta(seconds=1))
    run.begin(1)
    await run.deliver(1)
    entries = (await run.files.list(W, "")).entries
    assert run.memory.file_quotas[W] == FileQuota(id=W, used_bytes=sum(entry.size_bytes for entry in entries))


async def test_there_are_no_more_points() -> None:
    counter = Killer()
    await Run(counter).deliver()
    assert counter.count == POINTS
