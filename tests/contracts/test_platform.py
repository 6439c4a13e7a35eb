"""What signed requests rest on, on both stores: nonces that are used once, and calls under way."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from ferryman.domain.stale import StaleError

from .conftest import Stores
from .test_tickets import journaled
from .values import LATER, NOW, TOO_LATE, call_request


async def test_a_nonce_is_used_once_also_at_the_same_time(stores: Stores) -> None:
    used = await asyncio.gather(*(stores.nonces.use("0" * 32, until=LATER) for _ in range(5)))
    assert sorted(used) == [False] * 4 + [True]
    assert await stores.nonces.use("1" * 32, until=LATER)


async def test_a_call_that_was_claimed_is_under_way(stores: Stores) -> None:
    await journaled(stores)
    claimed = await stores.tickets.claim(call_request(0), tool="api_call", now=NOW)
    running = await stores.running_calls.get("exec_1", 0, epoch=1, now=NOW)
    assert running.ticket == claimed.ticket
    assert (running.execution.context, running.execution.policy) == (claimed.context, claimed.policy)


async def test_a_call_that_was_not_claimed_or_is_settled_or_unknown_is_not(stores: Stores) -> None:
    await journaled(stores)
    for seq in (0, 9):
        with pytest.raises(StaleError):
            await stores.running_calls.get("exec_1", seq, epoch=1, now=NOW)


async def test_a_call_of_another_lease_or_after_its_time_is_not(stores: Stores) -> None:
    await journaled(stores)
    await stores.tickets.claim(call_request(0), tool="api_call", now=NOW)
    for epoch, now in ((2, NOW), (1, NOW + timedelta(seconds=100)), (1, TOO_LATE)):
        with pytest.raises(StaleError):
            await stores.running_calls.get("exec_1", 0, epoch=epoch, now=now)


async def test_an_execution_that_runs_is_told_and_no_other(stores: Stores) -> None:
    await journaled(stores)
    assert (await stores.running_calls.find_execution("exec_1", epoch=1, now=NOW)).id == "exec_1"
    for name, epoch in (("exec_1", 2), ("none", 1)):
        with pytest.raises(StaleError):
            await stores.running_calls.find_execution(name, epoch=epoch, now=NOW)
