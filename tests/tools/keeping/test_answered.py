"""Results of functions that hold keys, kept after they have answered: once, counted, and never at the price of the result."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest

from ferryman.domain.calls.call import Ticket, TicketState, ToolCallResult
from ferryman.domain.calls.part import Part, PartKind
from ferryman.domain.executions.execution import Execution, Status
from ferryman.domain.files.kept import KEPT_TYPE, Overflow
from ferryman.domain.files.quota import SETTLED_LIFETIME, FileQuota
from ferryman.domain.owners.plan import PRO
from ferryman.domain.stale import StaleError
from ferryman.domain.workspaces.workspace import BEGINNING, Workspace
from ferryman.inmemory.clock import ManualClock
from ferryman.inmemory.executions import MemoryExecutions
from ferryman.inmemory.file_quotas import MemoryFileQuotas
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.objects import MemoryObjects
from ferryman.inmemory.queue import MemoryKeptTimers
from ferryman.inmemory.tickets import MemoryTickets
from ferryman.ports.errors import UnavailableError
from ferryman.ports.tickets import CallRequest
from ferryman.tools.files.workspace_files import WorkspaceFiles
from ferryman.tools.keeping.answered import AnsweredCalls
from ferryman.tools.keeping.room import FileRoom
from ferryman.tools.keeping.storing import KeptFiles
from tests.builders import build_execution, build_lease, build_policy, build_task, build_ticket

W = build_execution().workspace
TEXT = "".join(f"{place:06} " for place in range(10_000)).encode()
KEY = "executions/2026-11-21/e/0.txt"
RESULT = ToolCallResult("http_get", "<t>000000 </t>", response_status=200, parts=(Part(kind=PartKind.TEXT, start=3, end=10),))
OVERFLOW = Overflow(content=TEXT, offset=7, is_all=True)


@dataclass
class Answerer:
    """A function that holds keys and has answered with more than is shown, and the orchestrator that asks it."""

    limit_bytes: int = 1_000_000
    overflow: Overflow | None = OVERFLOW
    runs: int = 0
    memory: Memory = field(default_factory=Memory)
    clock: ManualClock = field(default_factory=ManualClock)

    def __post_init__(self) -> None:
        policy = build_policy(plan=replace(PRO, file_bytes=self.limit_bytes), tools=("http_get", "file_read"))
        self.memory.executions["e"] = build_execution(status=Status.RUNNING, lease=build_lease(), policy=policy)
        self.memory.tasks["t"] = build_task()
        self.memory.workspaces[W] = Workspace(id=W, owner="o", name="W", created_at=BEGINNING, updated_at=BEGINNING)
        self.memory.tickets["e"] = {0: build_ticket(tool="http_get", display_arguments={})}
        self.files = WorkspaceFiles(MemoryObjects(self.clock))
        self.room = FileRoom(files=self.files, quotas=MemoryFileQuotas(self.memory), clock=self.clock)
        self.calls = AnsweredCalls(
            run=self.run,
            executions=MemoryExecutions(self.memory),
            clock=self.clock,
            files=KeptFiles(room=self.room, timers=MemoryKeptTimers()),
        )

    async def run(self, ticket: Ticket, *, execution: Execution) -> Ticket:
        self.runs += 1
        tickets = MemoryTickets(self.memory)
        request = CallRequest(execution="e", seq=0, epoch=execution.epoch, task="t", owner="o")
        claimed = await tickets.claim(request, tool="http_get", now=self.clock.now())
        if self.overflow is None:
            await tickets.settle(claimed, RESULT, now=self.clock.now())
        else:
            await tickets.answer(claimed, RESULT, self.overflow)
        return self.ticket

    @property
    def ticket(self) -> Ticket:
        return self.memory.tickets["e"][0]

    @property
    def quota(self) -> FileQuota:
        return self.memory.file_quotas.get(W, FileQuota(id=W))

    async def execute(self) -> ToolCallResult:
        settled = await self.calls.execute(self.ticket, execution=self.memory.executions["e"])
        assert (settled, settled.state) == (self.ticket, TicketState.SETTLED)
        assert settled.result is not None
        return settled.result

    async def read(self) -> bytes:
        return (await self.files.read(W, KEY)).content


@pytest.fixture
def answerer() -> Answerer:
    return Answerer()


async def test_the_whole_text_becomes_a_file_and_the_result_says_how_to_read_on(answerer: Answerer) -> None:
    result = await answerer.execute()
    assert await answerer.read() == TEXT
    how = json.dumps({"key": KEY, "offset": 7})
    line = f"The whole text, 70,000 bytes, is kept in a file. To read on: file_read {how}"
    assert result.content == f"{RESULT.content}\n{line}"


async def test_the_file_is_a_part_with_the_label_of_the_text(answerer: Answerer) -> None:
    body, file = (await answerer.execute()).parts
    assert (file.kind, file.file, file.size_bytes, file.sha256) == (
        PartKind.FILE,
        KEY,
        70_000,
        hashlib.sha256(TEXT).hexdigest(),
    )
    assert file.label == body.label


async def test_its_bytes_count_nothing_stays_reserved_and_the_overflow_is_gone(answerer: Answerer) -> None:
    await answerer.execute()
    assert (answerer.quota, answerer.memory.overflows["e"]) == (FileQuota(id=W, used_bytes=70_000), {})


async def test_a_call_that_has_answered_is_not_made_again(answerer: Answerer) -> None:
    await answerer.run(answerer.ticket, execution=answerer.memory.executions["e"])
    await answerer.execute()
    assert (answerer.runs, await answerer.read()) == (1, TEXT)


async def test_a_result_that_is_settled_is_left_alone() -> None:
    short = Answerer(overflow=None)
    assert (await short.execute(), (await short.files.list(W, "")).entries) == (RESULT, ())


async def test_where_there_is_no_room_the_result_says_so() -> None:
    full = Answerer(limit_bytes=69_999)
    result = await full.execute()
    assert "\nOnly 7 characters are shown, and the rest is not kept: 70,000 bytes are more than the 69,999" in result.content
    assert (full.quota, full.memory.overflows["e"], result.ok) == (FileQuota(id=W), {}, True)


async def test_a_deployment_without_files_settles_the_result_as_it_is(answerer: Answerer) -> None:
    answerer.calls = replace(answerer.calls, files=None)
    assert (await answerer.execute(), answerer.memory.overflows["e"]) == (RESULT, {})


async def test_a_bucket_that_does_not_answer_is_told_and_what_it_stored_is_counted_a_day_later(answerer: Answerer) -> None:
    write = answerer.files.write

    async def lose(*arguments: Any, **named: Any) -> Any:
        await write(*arguments, **named)
        raise UnavailableError("no answer")

    answerer.files.write = lose  # type: ignore[method-assign]
    assert (await answerer.execute()).content.endswith("the rest is not kept: files cannot be reached now.")
    assert (answerer.quota.used_bytes, answerer.quota.reserved_bytes) == (0, 70_000)
    answerer.clock.turn(SETTLED_LIFETIME + timedelta(seconds=1))
    await answerer.room.reserve(answerer.memory.executions["e"], "other", 1, "other.md")
    assert answerer.quota.used_bytes == 70_000


async def test_a_holder_that_comes_late_leaves_no_reservation(answerer: Answerer) -> None:
    await answerer.run(answerer.ticket, execution=answerer.memory.executions["e"])
    late = answerer.ticket
    await answerer.execute()
    answerer.memory.overflows["e"][0] = OVERFLOW  # as it read it before
    with pytest.raises(StaleError):
        await answerer.calls.execute(late, execution=answerer.memory.executions["e"])
    assert answerer.quota == FileQuota(id=W, used_bytes=70_000)


async def test_a_file_that_a_person_deleted_before_its_call_settled_is_not_written_again_uncounted(answerer: Answerer) -> None:
    execution, quotas = answerer.memory.executions["e"], answerer.room.quotas
    await answerer.run(answerer.ticket, execution=execution)
    await answerer.files.write(W, KEY, TEXT, content_type=KEPT_TYPE, write="e.0.1")  # its process died after this
    for write, size_bytes in (("e.0.1", len(TEXT)), ("deletion", 0)):
        limits = {"owner": "o", "size_bytes": size_bytes, "limit_bytes": 1_000_000, "now": answerer.clock.now(), "key": KEY}
        await quotas.reserve(W, write, **limits)
    deleted = await answerer.files.delete(W, KEY, write="deletion")
    assert deleted is not None
    await quotas.close(W, "deletion", deleted.writes)
    await answerer.files.purge(W, KEY, version=deleted.version)
    assert (await answerer.execute()).content.endswith(f"the rest is not kept: the file at {KEY} was deleted.")
    assert ((await answerer.files.list(W, "")).entries, answerer.quota) == ((), FileQuota(id=W))
