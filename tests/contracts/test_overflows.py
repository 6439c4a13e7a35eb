"""Overflows: a call that has answered is not made again, and is settled once, together with its file's write."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from ferryman.domain.calls.call import Ticket, TicketState
from ferryman.domain.executions.execution import Execution
from ferryman.domain.files.kept import Overflow
from ferryman.domain.files.quota import FileQuota
from ferryman.domain.files.writes import ClosedWrite, StoredWrite
from ferryman.domain.stale import StaleError
from ferryman.ports.tickets import ClaimedCall

from .conftest import Stores
from .test_executions import open_execution
from .values import EXECUTION, LATER, LEASE, NOW, RESULT, TOO_LATE, call_request, open_workspaces, turn

OVERFLOW = Overflow(content=bytes(range(256)) * 2_000, offset=29, is_all=True)
FINAL = replace(RESULT, content=f"{RESULT.content}\nTo read on: file_read")
WRITE = "exec_1.0.1"
CLOSED = ClosedWrite(name=WRITE, writes=(StoredWrite(name=WRITE, old_bytes=0, new_bytes=7),))
W = EXECUTION.workspace


async def answer(stores: Stores) -> tuple[Execution, ClaimedCall]:
    """Return an execution whose first call has answered, and its claim."""
    execution = await stores.executions.commit(await open_execution(stores), turn(), now=NOW, lease=LEASE)
    claimed = await stores.tickets.claim(call_request(0), tool="api_call", now=NOW)
    await stores.tickets.answer(claimed, RESULT, OVERFLOW)
    return execution, claimed


async def read(stores: Stores) -> Ticket:
    return next(iter(await stores.executions.tickets("exec_1")))


async def reserve(stores: Stores) -> FileQuota:
    limits = {"owner": "ann", "size_bytes": 7, "limit_bytes": 10, "now": LATER}
    return await stores.file_quotas.reserve(W, WRITE, key="0.txt", answered=("exec_1", 0), **limits)


async def test_a_result_waits_with_its_overflow(stores: Stores) -> None:
    await answer(stores)
    ticket = await read(stores)
    assert (ticket.state, ticket.is_answered, ticket.result, ticket.settled_at) == (TicketState.SENT, True, RESULT, None)
    assert await stores.executions.read_overflow("exec_1", 0) == OVERFLOW
    assert await stores.executions.read_overflow("exec_1", 1) is None


async def test_a_call_that_has_answered_is_not_made_again_after_its_deadline(stores: Stores) -> None:
    await answer(stores)
    again = await stores.tickets.claim(call_request(0), tool="api_call", now=NOW + timedelta(seconds=60))
    assert (again.ticket, again.ticket.attempt) == (await read(stores), 1)


async def test_it_is_not_settled_as_in_doubt(stores: Stores) -> None:
    execution, _ = await answer(stores)
    doubted = replace(RESULT, content="in doubt", ok=False)
    assert await stores.executions.settle(execution, 0, doubted, now=LATER, in_doubt=True) == await read(stores)
    assert (await read(stores)).is_answered


async def test_it_answers_once(stores: Stores) -> None:
    _, claimed = await answer(stores)
    await stores.tickets.answer(claimed, FINAL, replace(OVERFLOW, content=b"other"))
    await stores.tickets.settle(claimed, FINAL, now=LATER)
    assert ((await read(stores)).result, await stores.executions.read_overflow("exec_1", 0)) == (RESULT, OVERFLOW)


async def test_another_attempt_answers_nothing(stores: Stores) -> None:
    await stores.executions.commit(await open_execution(stores), turn(), now=NOW, lease=LEASE)
    claimed = await stores.tickets.claim(call_request(0), tool="api_call", now=NOW)
    other = replace(claimed, ticket=replace(claimed.ticket, attempt=2), mark=None)
    await stores.tickets.answer(other, RESULT, OVERFLOW)
    assert (await read(stores), await stores.executions.read_overflow("exec_1", 0)) == (claimed.ticket, None)


async def test_its_final_result_its_write_and_its_overflow_are_settled_together_and_once(stores: Stores) -> None:
    await open_workspaces(stores, W)
    execution, _ = await answer(stores)
    assert (await reserve(stores)).reserved_bytes == 7
    for result in (FINAL, RESULT):
        settled = await stores.executions.settle_answered(execution, 0, result, CLOSED, now=LATER)
        assert (settled.state, settled.result, settled.settled_at) == (TicketState.SETTLED, FINAL, LATER)
        assert settled == await read(stores)
        assert await stores.file_quotas.get(W) == FileQuota(id=W, used_bytes=7)
        assert await stores.executions.read_overflow("exec_1", 0) is None


async def test_a_result_without_a_file_leaves_the_quota_alone(stores: Stores) -> None:
    await open_workspaces(stores, W)
    execution, _ = await answer(stores)
    await reserve(stores)
    await stores.executions.settle_answered(execution, 0, FINAL, None, now=LATER)
    assert (await stores.file_quotas.get(W)).reserved_bytes == 7
    assert await stores.executions.read_overflow("exec_1", 0) is None


async def test_nothing_is_reserved_for_a_result_that_is_settled(stores: Stores) -> None:
    await open_workspaces(stores, W)
    execution, _ = await answer(stores)
    await stores.executions.settle_answered(execution, 0, FINAL, None, now=LATER)
    with pytest.raises(StaleError):
        await reserve(stores)
    assert await stores.file_quotas.get(W) == FileQuota(id=W)


async def test_a_holder_whose_lease_has_expired_settles_nothing(stores: Stores) -> None:
    execution, _ = await answer(stores)
    with pytest.raises(StaleError):
        await stores.executions.settle_answered(execution, 0, FINAL, None, now=TOO_LATE + timedelta(seconds=1))
    assert (await read(stores)).is_answered


async def test_the_next_holder_of_the_lease_settles_it(stores: Stores) -> None:
    await answer(stores)
    later = TOO_LATE + timedelta(seconds=1)
    claimed, _ = await stores.executions.claim("exec_1", slice=0, holder="h2", now=later, lease=LEASE)
    settled = await stores.executions.settle_answered(claimed, 0, FINAL, None, now=later)
    assert (settled.result, settled.epoch) == (FINAL, 2)
