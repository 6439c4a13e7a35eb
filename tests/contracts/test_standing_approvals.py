"""Standing approvals: so many uses, so many in a workspace, and none once one is revoked."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from ferryman.domain.approvals.approval import ApprovalDecidedError
from ferryman.domain.approvals.standing import StandingApproval
from ferryman.ports.approvals import TooManyStandingError

from .approvals import build_standing
from .conftest import Stores


async def add(stores: Stores, *numbers: int) -> list[StandingApproval]:
    standings = [build_standing(number) for number in numbers]
    for standing in standings:
        await stores.approvals.add_standing(standing, most=10)
    return standings


async def test_they_are_listed_as_they_were_stored_the_newest_first(stores: Stores) -> None:
    first, second = await add(stores, 1, 2)
    assert list(await stores.approvals.list_standing(first.workspace)) == [second, first]
    assert not await stores.approvals.list_standing("elsewhere")


async def test_a_workspace_has_so_many_that_are_not_over(stores: Stores) -> None:
    first, _ = await add(stores, 1, 2)
    with pytest.raises(TooManyStandingError):
        await stores.approvals.add_standing(build_standing(3), most=2)
    await stores.approvals.revoke_standing(first.workspace, first.id)
    await stores.approvals.add_standing(build_standing(3), most=2)


async def test_each_call_takes_one_use_and_no_more_than_there_are(stores: Stores) -> None:
    (standing,) = await add(stores, 1)
    await stores.approvals.take_standing(standing.id, execution="exec_1", seq=0)
    again = await stores.approvals.take_standing(standing.id, execution="exec_1", seq=0)
    assert again.used == ("exec_1/0",)
    await stores.approvals.take_standing(standing.id, execution="exec_2", seq=0)
    with pytest.raises(ApprovalDecidedError):
        await stores.approvals.take_standing(standing.id, execution="exec_3", seq=0)


async def test_calls_at_once_take_no_more_uses_than_there_are(stores: Stores) -> None:
    (standing,) = await add(stores, 1)
    takes = (stores.approvals.take_standing(standing.id, execution="exec_1", seq=seq) for seq in range(4))
    outcomes = await asyncio.gather(*takes, return_exceptions=True)
    assert sum(isinstance(outcome, StandingApproval) for outcome in outcomes) == standing.uses_max


async def test_a_revoked_one_is_taken_by_no_further_call(stores: Stores) -> None:
    (standing,) = await add(stores, 1)
    assert await stores.approvals.revoke_standing(standing.workspace, standing.id) == replace(standing, revoked=True)
    with pytest.raises(ApprovalDecidedError):
        await stores.approvals.take_standing(standing.id, execution="exec_1", seq=0)


async def test_another_workspace_revokes_none(stores: Stores) -> None:
    (standing,) = await add(stores, 1)
    assert await stores.approvals.revoke_standing("elsewhere", standing.id) is None
    assert list(await stores.approvals.list_standing(standing.workspace)) == [standing]


async def test_an_unknown_one_is_not_taken(stores: Stores) -> None:
    with pytest.raises(KeyError):
        await stores.approvals.take_standing("stand_0", execution="exec_1", seq=0)
