"""Workspaces: the default one without a document, the others as they were stored, and those of others not at all."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from ferryman.domain.changes import change_value
from ferryman.domain.owners.limit import LimitReachedError
from ferryman.domain.stale import StaleError
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.domain.workspaces.workspace import Workspace, WorkspaceState, build_default_workspace

from .belongings import build_job
from .conftest import Stores
from .values import LATER, NOW, TOO_LATE

FULL = Workspace(
    id="ws_1",
    owner="ann",
    name="näme",
    state=WorkspaceState.ARCHIVED,
    allowed_tools=("api_call",),
    max_credits_month=Decimal("1.5"),
    alert_url="https://a.test/",
    retention_days=3,
    created_at=NOW,
    updated_at=NOW,
)
DEFAULT = derive_default_workspace("ann")


async def test_a_workspace_comes_back_as_it_was_stored(stores: Stores) -> None:
    await stores.workspaces.create(FULL)
    assert await stores.workspaces.get("ws_1", owner="ann") == FULL


async def test_a_workspace_of_somebody_else_is_not_found(stores: Stores) -> None:
    await stores.workspaces.create(FULL)
    assert await stores.workspaces.get("ws_1", owner="bob") is None
    assert await stores.workspaces.get(DEFAULT, owner="bob") is None


async def test_the_default_workspace_needs_no_document(stores: Stores) -> None:
    assert await stores.workspaces.get(DEFAULT, owner="ann") == build_default_workspace("ann")


async def test_a_change_stores_the_default_workspace(stores: Stores) -> None:
    default = build_default_workspace("ann")
    changed = replace(default, name="ours", retention_days=2, updated_at=NOW)
    assert await stores.workspaces.update(changed, ["name"], since=default.updated_at) is True
    assert await stores.workspaces.get(DEFAULT, owner="ann") == replace(default, name="ours", updated_at=NOW)


async def test_the_default_workspace_is_listed_first_and_the_others_by_age(stores: Stores) -> None:
    young = replace(FULL, id="ws_0", created_at=LATER)
    for workspace in (young, FULL, replace(FULL, id="ws_2", owner="bob")):
        await stores.workspaces.create(workspace)
    assert list(await stores.workspaces.list("ann")) == [build_default_workspace("ann"), FULL, young]


async def test_a_workspace_is_created_once(stores: Stores) -> None:
    await stores.workspaces.create(FULL)
    await stores.workspaces.create(FULL)
    assert len(await stores.workspaces.list("ann")) == 2


async def test_no_more_workspaces_than_the_limit_are_stored(stores: Stores) -> None:
    await stores.workspaces.create(FULL, most=2)
    with pytest.raises(LimitReachedError, match="at most 2 workspaces"):
        await stores.workspaces.create(replace(FULL, id="ws_2"), most=2)


async def test_only_the_fields_that_are_named_are_written(stores: Stores) -> None:
    await stores.workspaces.create(FULL)
    changed = replace(FULL, name="new", retention_days=None, updated_at=LATER)
    assert await stores.workspaces.update(changed, ["name"], since=NOW) is True
    assert await stores.workspaces.get("ws_1", owner="ann") == replace(FULL, name="new", updated_at=LATER)


async def test_a_workspace_that_is_not_there_is_not_changed(stores: Stores) -> None:
    assert await stores.workspaces.update(FULL, ["name"], since=NOW) is False


async def test_of_two_changes_at_once_one_is_taken(stores: Stores) -> None:
    await stores.workspaces.create(FULL)
    changes = [replace(FULL, name=f"name {n}", updated_at=NOW + timedelta(seconds=n + 1)) for n in range(2)]
    outcomes = await asyncio.gather(
        *(stores.workspaces.update(change, ["name"], since=NOW) for change in changes), return_exceptions=True
    )
    assert {type(outcome) for outcome in outcomes} == {bool, StaleError}


async def test_a_workspace_that_is_being_deleted_is_not_opened_again(stores: Stores) -> None:
    late = replace(FULL, updated_at=TOO_LATE)
    await stores.workspaces.create(late)
    await stores.jobs.start(build_job())
    closed = await stores.workspaces.get("ws_1", owner="ann")
    assert closed is not None
    assert closed.updated_at > late.updated_at > NOW
    for since in (late.updated_at, closed.updated_at):
        changed = change_value(late, {"state": WorkspaceState.ACTIVE}, now=LATER)
        assert await stores.workspaces.update(changed, ["state"], since=since) is False
    assert (
        await stores.workspaces.get("ws_1", owner="ann")
        == closed
        == replace(late, state=WorkspaceState.DELETING, updated_at=closed.updated_at)
    )
