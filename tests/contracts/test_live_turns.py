"""The turn under way on both stores: the lease holder's alone, in the place of the one before, and gone with its execution."""

from __future__ import annotations

import pytest

from ferryman.domain.conversations.live import LiveBlock, LiveTurn
from ferryman.domain.executions.execution import Execution
from ferryman.domain.stale import StaleError

from .conftest import Stores
from .values import EXECUTION, LATER, LEASE, NOW, OWNER, TASK

TURN = LiveTurn(event=2, blocks=(LiveBlock("In Harwich\nand "), LiveBlock('{"url": ', "toolu_1", "http_get")))


@pytest.fixture
async def claimed(stores: Stores) -> Execution:
    await stores.owners.put(OWNER)
    await stores.tasks.create(TASK)
    await stores.executions.start(EXECUTION, most=10)
    execution, _ = await stores.executions.claim(EXECUTION.id, slice=0, holder="h", now=NOW, lease=LEASE)
    return execution


async def test_there_is_none_before_one_is_shown(stores: Stores, claimed: Execution) -> None:
    assert await stores.executions.live(claimed.id) is None


async def test_the_newest_is_in_the_place_of_the_one_before(stores: Stores, claimed: Execution) -> None:
    await stores.executions.show(claimed, LiveTurn(event=2), now=NOW)
    await stores.executions.show(claimed, TURN, now=NOW)
    assert await stores.executions.live(claimed.id) == TURN


async def test_it_is_no_turn_of_the_record(stores: Stores, claimed: Execution) -> None:
    await stores.executions.show(claimed, TURN, now=NOW)
    assert await stores.executions.steps(claimed.id) == []
    assert await stores.executions.receipts(claimed.id) == []


async def test_it_can_be_deleted(stores: Stores, claimed: Execution) -> None:
    await stores.executions.show(claimed, TURN, now=NOW)
    await stores.executions.show(claimed, None, now=NOW)
    assert await stores.executions.live(claimed.id) is None


async def test_a_holder_that_lost_its_lease_shows_nothing(stores: Stores, claimed: Execution) -> None:
    later = LATER + LEASE
    await stores.executions.claim(claimed.id, slice=0, holder="other", now=later, lease=LEASE)
    with pytest.raises(StaleError):
        await stores.executions.show(claimed, TURN, now=later)
    assert await stores.executions.live(claimed.id) is None


async def test_of_an_execution_that_is_gone_nothing_is_shown(stores: Stores, claimed: Execution) -> None:
    await stores.forget(claimed.id)
    with pytest.raises(StaleError):
        await stores.executions.show(claimed, TURN, now=NOW)
