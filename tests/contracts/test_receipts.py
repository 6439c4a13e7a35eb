"""Receipts of executions: stored with the commit that made them."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from ferryman.domain.receipts.receipt import Head, ReceiptKind
from ferryman.domain.stale import StaleError

from .conftest import Stores
from .values import (
    DONE,
    ENTRY,
    LATER,
    LEASE,
    NOW,
    OPENING,
    OWNER,
    POLICY,
    TASK,
    TOO_LATE,
    claim_execution,
    open_execution,
    read_execution,
    receipts,
    turn,
)


async def test_receipts_stand_with_the_commits_that_made_them_and_come_back_in_order(stores: Stores) -> None:
    await stores.owners.put(OWNER)
    await stores.tasks.create(TASK)
    execution = replace(await claim_execution(stores), policy=POLICY, events=1)
    first, head = receipts(Head(), ReceiptKind.OPENED)
    await stores.executions.open(replace(execution, receipts=head), OPENING, entry=ENTRY, receipts=first, now=NOW)
    assert (await read_execution(stores)).receipts == head
    second, head = receipts(head, *[ReceiptKind.PLANNED] * 11)
    current = replace(execution, receipts=head, credits_reserved=Decimal(100))
    current = await stores.executions.commit(current, replace(turn(), receipts=second), now=NOW, lease=LEASE)
    assert ((await read_execution(stores)).receipts, current.receipts) == (head, head)
    third, head = receipts(head, ReceiptKind.SETTLED, ReceiptKind.CLOSED)
    await stores.executions.finish(replace(current, receipts=head), replace(DONE, receipts=third), now=LATER)
    assert (await read_execution(stores)).receipts == head
    assert await stores.executions.receipts("exec_1") == [*first, *second, *third]
    whole = [*first, *second, *third]
    for start in range(len(whole) + 1):
        assert await stores.executions.receipts("exec_1", first=start, most=5) == whole[start : start + 5]
    assert await stores.executions.receipts("exec_2") == []


async def test_a_holder_whose_time_is_over_adds_no_receipts(stores: Stores) -> None:
    execution = await open_execution(stores)
    planned, head = receipts(Head(), ReceiptKind.OPENED)
    late = replace(execution, receipts=head)
    with pytest.raises(StaleError):
        await stores.executions.commit(late, replace(turn(), receipts=planned), now=TOO_LATE, lease=LEASE)
    with pytest.raises(StaleError):
        await stores.executions.finish(late, replace(DONE, receipts=planned), now=TOO_LATE)
    assert await stores.executions.receipts("exec_1") == []
    assert (await read_execution(stores)).receipts == Head()
