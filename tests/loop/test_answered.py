"""Calls that have answered with more than is shown: kept before the model reads on, by whichever delivery, and sent once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from ferryman.catalog.tools import find_tool
from ferryman.domain.calls.call import Ticket, TicketState, ToolCallResult
from ferryman.domain.calls.labelling import label_result
from ferryman.domain.executions.execution import Execution, Status
from ferryman.domain.files.kept import Overflow
from ferryman.domain.files.quota import FileQuota
from ferryman.domain.workspaces.workspace import BEGINNING, Workspace
from ferryman.inmemory.executions import MemoryExecutions
from ferryman.inmemory.file_quotas import MemoryFileQuotas
from ferryman.inmemory.objects import MemoryObjects
from ferryman.inmemory.queue import MemoryKeptTimers
from ferryman.loop.dependencies import LoopDependencies
from ferryman.ports.errors import UnavailableError
from ferryman.ports.tickets import CallRequest
from ferryman.tools.files.workspace_files import WorkspaceFiles
from ferryman.tools.keeping.answered import AnsweredCalls
from ferryman.tools.keeping.room import FileRoom
from ferryman.tools.keeping.storing import KeptFiles
from ferryman.tools.registry import ToolRegistry
from tests.loop.conftest import Stage, fetches, says
from tests.loop.test_receipts import fits

ENDED = "the rest is not kept: the execution was ended."
READ_ON = 'The whole text, 60,000 bytes, is kept in a file. To read on: file_read {"key": "executions/2026-11-21/e/0.txt", '


@dataclass
class AnsweringStage(Stage):
    """A loop whose tools answer with more than is shown. `faults` are raised where a result is to be settled, one by one."""

    faults: list[Exception] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.files = WorkspaceFiles(MemoryObjects(self.clock))
        place = self.execution.workspace
        self.memory.workspaces[place] = Workspace(id=place, owner="o", name="W", created_at=BEGINNING, updated_at=BEGINNING)

    def deps(self) -> LoopDependencies:
        room = FileRoom(files=self.files, quotas=MemoryFileQuotas(self.memory), clock=self.clock)
        executions: Any = MemoryExecutions(self.memory)
        settle = executions.settle_answered

        async def settle_answered(*arguments: Any, **named: Any) -> Ticket:
            if self.faults:
                raise self.faults.pop(0)
            ticket: Ticket = await settle(*arguments, **named)
            return ticket

        executions.settle_answered = settle_answered
        files = KeptFiles(room=room, timers=MemoryKeptTimers())
        calls = AnsweredCalls(run=self._execute, executions=executions, clock=self.clock, files=files)
        return replace(super().deps(), executions=executions, registry=ToolRegistry(calls.execute))

    async def _execute(self, ticket: Ticket, *, execution: Execution) -> Ticket:
        request = CallRequest(execution="e", seq=ticket.seq, epoch=execution.epoch, task="t", owner="o")
        claimed = await self.tickets.claim(request, tool=find_tool(ticket.tool).function, now=self.clock.now())
        if claimed.ticket.result is None:
            self.executed.append(claimed.ticket)
            policy, answer = find_tool(ticket.tool).policy, self.on_call(claimed.ticket)
            assert isinstance(answer, ToolCallResult)
            result = label_result(answer, policy, seq=ticket.seq, arguments=ticket.label)
            await self.tickets.answer(claimed, result, Overflow(content=b"x" * 60_000, offset=8, is_all=True))
        return self.memory.tickets["e"][ticket.seq]


@pytest.fixture
def stage() -> AnsweringStage:
    return AnsweringStage()


async def test_the_model_reads_how_to_read_on_and_the_receipts_cover_it(stage: AnsweringStage) -> None:
    assert await stage.run(fetches(), says("done"))
    assert READ_ON in str(stage.model.prompts[-1].messages)
    assert READ_ON in stage.results[0].content
    assert await fits(stage)


async def test_each_call_of_a_turn_has_a_file_of_its_own(stage: AnsweringStage) -> None:
    assert await stage.run(fetches(3), says("done"))
    workspace = stage.execution.workspace
    assert [result.parts[1].file for result in stage.results] == [f"executions/2026-11-21/e/{seq}.txt" for seq in range(3)]
    assert stage.memory.file_quotas[workspace] == FileQuota(id=workspace, used_bytes=180_000)


async def test_the_next_delivery_keeps_what_was_answered_at_once_and_sends_nothing(stage: AnsweringStage) -> None:
    stage.faults = [UnavailableError("Firestore did not answer")]
    assert not await stage.run(fetches(), says("done"))
    assert stage.memory.tickets["e"][0].is_answered
    assert await stage.run()
    assert (stage.execution.status, len(stage.executed), len(stage.model.prompts)) == (Status.COMPLETED, 1, 2)
    assert READ_ON in stage.results[0].content
    assert await fits(stage)


async def test_it_counts_once_for_the_limits_and_in_the_record(stage: AnsweringStage) -> None:
    stage.faults = [UnavailableError("Firestore did not answer")]
    await stage.run(fetches(), says("done"))
    await stage.run()
    whole = AnsweringStage()
    await whole.run(fetches(), says("done"))
    assert stage.execution.tool_calls_total == whole.execution.tool_calls_total == 1
    assert stage.execution.rate == whole.execution.rate
    assert stage.execution.credits_used == whole.execution.credits_used


async def test_a_model_call_that_was_reserved_before_is_not_taken_for_one_that_was_made(stage: AnsweringStage) -> None:
    stage.faults = [UnavailableError("one"), UnavailableError("two")]
    await stage.run(fetches(), says("done"))
    await stage.run()
    assert (stage.execution.status, len(stage.model.prompts)) == (Status.RUNNING, 1)
    assert await stage.run()
    assert (stage.execution.status, stage.execution.output) == (Status.COMPLETED, "done")


async def test_an_execution_that_has_no_time_left_keeps_the_result_and_no_file(stage: AnsweringStage) -> None:
    stage.faults = [UnavailableError("Firestore did not answer")]
    await stage.run(fetches(), says("never"))
    stage.clock.turn(26 * 60)
    assert await stage.run()
    ticket = stage.memory.tickets["e"][0]
    assert (stage.execution.status, ticket.state, ticket.in_doubt) == (Status.TIMEOUT, TicketState.SETTLED, False)
    assert stage.results[0].content.endswith(ENDED)
    assert (stage.memory.overflows["e"], len(stage.executed)) == ({}, 1)
    assert await fits(stage)


async def test_an_answer_that_comes_while_a_call_is_settled_as_in_doubt_wins(stage: AnsweringStage) -> None:
    stage.faults = [UnavailableError("Firestore did not answer")]
    await stage.run(fetches(), says("never"))
    late = stage.memory.tickets["e"][0]
    stage.memory.tickets["e"][0] = replace(late, result=None)
    stage.memory.executions["e"] = replace(stage.execution, cancel_requested=True)
    stage.clock.turn(35)
    tickets = MemoryExecutions.tickets

    async def answer_after_the_look(self: MemoryExecutions, *arguments: Any, **named: Any) -> Any:
        read = await tickets(self, *arguments, **named)
        if "first" in named:
            stage.memory.tickets["e"][0] = replace(stage.memory.tickets["e"][0], result=late.result)
        return read

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MemoryExecutions, "tickets", answer_after_the_look)
        assert await stage.run()
    assert stage.results[0].content.endswith(ENDED)
    assert stage.memory.tickets["e"][0].state is TicketState.SETTLED
