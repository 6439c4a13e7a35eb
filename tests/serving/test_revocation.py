"""Revocation: a long answer goes on while who asked still has the right, with a key that still is what it was."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fastapi import FastAPI

from ferryman.domain.workspaces.member import Membership, Right, Role
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.domain.workspaces.workspace import WorkspaceState
from ferryman.inmemory.clock import START
from ferryman.serving import keys
from ferryman.serving.api.revocation import still_has_right
from ferryman.serving.api.rights import Caller

from .conftest import Stage

HERE = derive_default_workspace("ann")


def build_caller(stage: Stage, headers: dict[str, str]) -> Caller:
    """Return who asks with these headers, with every right at the time."""
    stage.owner("ann")
    digest = keys.digest_key(headers["Authorization"].removeprefix("Bearer "))
    key = stage.memory.keys[digest]
    about: dict[str, Any] = {"owner": stage.memory.owners["ann"], "workspace": key.workspace or HERE, "key": key}
    return Caller(**about, digest=digest, rights=frozenset(Right))


def close_workspace(stage: Stage) -> None:
    stage.memory.workspaces["ws_ann"] = replace(stage.memory.workspaces["ws_ann"], state=WorkspaceState.DELETING)


def lower_role(stage: Stage) -> None:
    for place, membership in stage.memory.memberships.items():
        stage.memory.memberships[place] = Membership(
            owner=membership.owner, workspace=place[0], person=place[1], role=Role.VIEWER, created_at=START
        )


@pytest.mark.parametrize("lose", [lambda stage: stage.memory.keys.clear(), lower_role, close_workspace])
async def test_who_has_lost_the_right_has_it_no_longer(app: FastAPI, stage: Stage, lose: Any) -> None:
    caller = build_caller(stage, stage.member(Role.ADMIN, workspace="ws_ann"))
    assert await still_has_right(app.state.deps, caller, Right.MANAGE)
    lose(stage)
    assert not await still_has_right(app.state.deps, caller, Right.MANAGE)


async def test_a_key_that_has_become_one_for_a_workspace_is_not_the_owners_own_any_longer(app: FastAPI, stage: Stage) -> None:
    caller = build_caller(stage, stage.owner("ann"))
    assert await still_has_right(app.state.deps, caller, Right.MANAGE, is_own=True)
    stage.memory.keys[caller.digest] = replace(caller.key, workspace=HERE)
    assert await still_has_right(app.state.deps, caller, Right.MANAGE)
    assert not await still_has_right(app.state.deps, caller, Right.MANAGE, is_own=True)
