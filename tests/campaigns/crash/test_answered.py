"""Long results of functions that hold keys, killed before and after every step: one effect, one file, an exact quota."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest

from ferryman.domain.calls.call import CALL_ATTEMPTS_MAX, Ticket, ToolCallResult
from ferryman.domain.calls.part import Part, PartKind
from ferryman.domain.calls.refusal import IN_DOUBT
from ferryman.domain.executions.execution import Execution, Status
from ferryman.domain.files.quota import FileQuota
from ferryman.domain.owners.plan import PRO
from ferryman.domain.workspaces.workspace import BEGINNING, Workspace
from ferryman.inmemory.executions import MemoryExecutions
from ferryman.inmemory.file_quotas import MemoryFileQuotas
from ferryman.inmemory.objects import MemoryObjects
from ferryman.inmemory.queue import MemoryKeptTimers
from ferryman.ports.gate import ScannedText
from ferryman.ports.tickets import CallRequest
from ferryman.tools.execute_call import ToolDependencies, execute_call
from ferryman.tools.files.workspace_files import WorkspaceFiles
from ferryman.tools.keeping.answered import AnsweredCalls
from ferryman.tools.keeping.room import FileRoom
from ferryman.tools.keeping.storing import KeptFiles
from tests.builders import build_execution, build_lease
from tests.campaigns.crash.points import InstrumentedPort, Meet, instrument
from tests.campaigns.crash.test_files import KilledError, Killer
from tests.tools.harness import ARGUMENTS, POLICY, ToolHarness

W = build_execution().workspace
LENGTH, MOST = 120_000, 50_000


@dataclass
class AnsweringTool(ToolHarness):
    """A tool function whose upstream answers another long text to each request; `meet` is told of every one."""

    meet: Meet | None = None

    async def send(self, outbound: Any, call: Any) -> ToolCallResult:
        assert self.meet is not None
        await self.meet("upstream", "before")
        await super().send(outbound, call)
        await self.meet("upstream", "after")
        text = f"{len(self.sent)} ".ljust(LENGTH, "x")

        async def scan() -> ScannedText:
            return ScannedText(text)

        call.long.scan = scan
        part = Part(kind=PartKind.TEXT, start=0, end=MOST)
        return ToolCallResult("api_call", text[:MOST], method=outbound.method.value, response_status=200, parts=(part,))


class Run:
    """One call, and every process that delivers it or executes it."""

    def __init__(self, killer: Killer, method: str) -> None:
        self.tool = AnsweringTool(arguments_={**ARGUMENTS, "method": method}, meet=killer.meet)
        self.memory, self.clock, self._meet = self.tool.memory, self.tool.clock, killer.meet
        policy = replace(POLICY, plan=replace(PRO, file_bytes=1_000_000), tools=(*POLICY.tools, "file_read"))
        self.memory.executions["e"] = build_execution(status=Status.RUNNING, lease=build_lease(), policy=policy)
        self.memory.workspaces[W] = Workspace(id=W, owner="o", name="W", created_at=BEGINNING, updated_at=BEGINNING)
        self._objects = MemoryObjects(self.clock)
        self.files = WorkspaceFiles(self._objects)

    def _instrument(self, port: object, name: str) -> Any:
        return InstrumentedPort(port, name, self._meet)

    async def _execute(self, ticket: Ticket, *, execution: Execution) -> Ticket:
        # no switch is read meanwhile: whether there is time for it depends on the machine
        deps: ToolDependencies = instrument(replace(self.tool.deps(), poll_interval=timedelta(days=1)), self._meet)
        request = CallRequest(execution="e", seq=ticket.seq, epoch=execution.epoch, task="t", owner="o")
        return await execute_call(deps, "api_call", request)

    def _start(self) -> AnsweredCalls:
        """Return the calls of an orchestrator that remembers nothing."""
        stored: Any = WorkspaceFiles(self._instrument(self._objects, "objects"))
        quotas = self._instrument(MemoryFileQuotas(self.memory), "quotas")
        room = FileRoom(files=stored, quotas=quotas, clock=self.clock)
        timers = self._instrument(MemoryKeptTimers(), "timers")
        files = KeptFiles(room=room, timers=timers, period=timedelta(days=30))
        executions = self._instrument(MemoryExecutions(self.memory), "executions")
        return AnsweredCalls(run=self._execute, executions=executions, clock=self.clock, files=files)

    async def deliver(self) -> Ticket:
        """Deliver the call until it is settled."""
        for _ in range(CALL_ATTEMPTS_MAX + 1):
            try:
                await self._start().execute(self.memory.tickets["e"][0], execution=self.memory.executions["e"])
            except KilledError:
                self.turn(timedelta(minutes=2))
                continue
            return self.memory.tickets["e"][0]
        raise AssertionError("the call was not settled")

    def turn(self, by: timedelta) -> None:
        """Let time pass, and the lease be renewed."""
        self.clock.turn(by)
        lease = build_lease(expires_at=self.clock.now() + timedelta(minutes=2))
        self.memory.executions["e"] = replace(self.memory.executions["e"], lease=lease)


POINTS = 20
"""Before and after each of: claim, credentials, request, answer; then overflow, timer, reservation, look, write, settlement."""

UNKNOWN = range(1, 7)
"""Those after the claim and before the answer is stored: nobody knows then whether a POST was sent."""


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("point", range(POINTS))
async def test_a_long_result_that_is_killed_at_any_point_is_kept_once_as_it_was_answered(method: str, point: int) -> None:
    is_unknown = method == "POST" and point in UNKNOWN
    assert await check(method, point) is not is_unknown


async def test_there_are_no_more_points() -> None:
    counter = Killer()
    await Run(counter, "POST").deliver()
    assert counter.count == POINTS


async def check(method: str, point: int) -> bool:
    """Kill the call at a point, check what is stored in the end, and return whether there is a file."""
    run = Run(Killer(point), method)
    ticket = await run.deliver()
    result, files = ticket.result, (await run.files.list(W, "")).entries
    assert result is not None
    assert not run.memory.overflows.get("e"), point
    # nothing stays reserved, no file is left over, and what counts is what is there
    assert run.memory.file_quotas.get(W, FileQuota(id=W)) == FileQuota(id=W, used_bytes=LENGTH * len(files)), point
    most = 2 if method == "GET" and point in UNKNOWN else 1
    assert len(run.tool.sent) <= most, point
    if not files:
        assert (result.content, result.ok) == (IN_DOUBT.message, False), point
        return False
    body, file = result.parts
    assert [entry.key for entry in files] == [file.file], point
    assert file.file is not None
    content = (await run.files.read(W, file.file)).content
    assert file.sha256 == hashlib.sha256(content).hexdigest()
    assert content.decode().startswith(result.content[body.start : body.end])
    return True
