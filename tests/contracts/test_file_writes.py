"""Writes of files over the whole path: as many at once as there is room for, each counted once, in every store."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from ferryman.domain.calls.call import Ticket, TicketState
from ferryman.domain.executions.execution import Execution
from ferryman.domain.files.quota import FileQuota
from ferryman.domain.files.writes import ClosedWrite, StoredWrite, name_call
from ferryman.domain.owners.plan import GURU
from ferryman.inmemory.clock import ManualClock
from ferryman.inmemory.objects import MemoryObjects
from ferryman.ports.errors import UnavailableError
from ferryman.ports.tickets import CallRequest
from tests.builders import build_ticket
from tests.tools.files.path import FilePath, NoSecrets

from .conftest import Stores
from .values import ENTRY, EXECUTION, LATER, LEASE, NOW, OPENING, OWNER, POLICY, RESULT, TASK, claim_execution, open_workspaces
from .values import turn as build_turn

WRITERS, SIZE, ROOM = 64, 10, 40
LIMIT = ROOM * SIZE
W = EXECUTION.workspace


@pytest.fixture
async def execution(stores: Stores) -> Execution:
    """An execution that has asked for 64 writes, in a workspace with room for 40 of them."""
    await open_workspaces(stores, W)
    await stores.owners.put(OWNER)
    await stores.tasks.create(TASK)
    policy = replace(POLICY, plan=replace(GURU, file_bytes=LIMIT), tools=("file_write",), credentials=())
    opened = replace(await claim_execution(stores), policy=policy, events=1)
    await stores.executions.open(opened, OPENING, entry=ENTRY, now=NOW)
    turn = build_turn(calls=WRITERS)
    tickets = tuple(
        build_ticket(
            seq=seq,
            tool="file_write",
            display_arguments={"key": f"{seq}.md", "content": "x" * SIZE},
            created_at=NOW,
        )
        for seq in range(WRITERS)
    )
    await stores.executions.commit(opened, replace(turn, tickets=tickets), now=NOW, lease=LEASE)
    return opened


async def repeat(path: FilePath, ticket: Ticket, execution: Execution) -> Ticket:
    """Execute a call, again where the stores are not available."""
    while True:
        try:
            return await path.calls.execute(ticket, execution=execution)
        except UnavailableError:
            await asyncio.sleep(0)


async def test_of_sixty_four_writes_as_many_are_stored_as_there_is_room_for_and_each_counts_once(
    stores: Stores, execution: Execution
) -> None:
    objects, clock = MemoryObjects(ManualClock(NOW)), ManualClock(NOW)
    path = FilePath(stores.tickets, stores.file_quotas, objects, NoSecrets(), clock)
    tickets = await stores.executions.tickets(execution.id)
    settled = await asyncio.gather(*(repeat(path, ticket, execution) for ticket in tickets))
    quota = await stores.file_quotas.get(W)
    stored = sum(entry.size_bytes for entry in (await path.files.list(W, "")).entries)
    assert quota == FileQuota(id=W, used_bytes=stored) == FileQuota(id=W, used_bytes=LIMIT)
    codes = [ticket.result.code for ticket in settled if ticket.result is not None]
    assert (codes.count(None), codes.count("files_full")) == (ROOM, WRITERS - ROOM)


async def test_a_result_and_what_it_wrote_are_stored_together_and_once(stores: Stores, execution: Execution) -> None:
    request = CallRequest(execution=execution.id, seq=0, epoch=1, task="task_1", owner="ann")
    claimed = await stores.tickets.claim(request, tool="files", now=NOW)
    name = name_call(execution.id, 0)
    await stores.file_quotas.reserve(W, name, owner="ann", size_bytes=SIZE, limit_bytes=LIMIT, now=NOW, key="0.md")
    assert (await stores.file_quotas.get(W)).reservations[name].key == "0.md"
    write = ClosedWrite(name=name, writes=(StoredWrite(name=name, old_bytes=0, new_bytes=7),))
    for _ in range(2):
        await stores.tickets.settle_write(claimed, RESULT, write, workspace=W, now=LATER)
        assert await stores.file_quotas.get(W) == FileQuota(id=W, used_bytes=7)
    ticket = next(iter(await stores.executions.tickets(execution.id)))
    assert (ticket.state, ticket.result, ticket.settled_at) == (TicketState.SETTLED, RESULT, LATER)


async def test_a_write_that_stored_nothing_gives_its_bytes_back_with_its_result(stores: Stores, execution: Execution) -> None:
    request = CallRequest(execution=execution.id, seq=0, epoch=1, task="task_1", owner="ann")
    claimed = await stores.tickets.claim(request, tool="files", now=NOW)
    await stores.file_quotas.reserve(W, "exec_1.0", owner="ann", size_bytes=SIZE, limit_bytes=LIMIT, now=NOW)
    await stores.tickets.settle_write(claimed, RESULT, ClosedWrite(name="exec_1.0"), workspace=W, now=LATER)
    assert await stores.file_quotas.get(W) == FileQuota(id=W)
