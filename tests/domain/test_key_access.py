"""The access of an API key: which workspaces it finds, and whose membership gives it rights."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from ferryman.domain.owners.owner import Owner
from ferryman.domain.workspaces.access import KeyAccess, judge_key
from ferryman.domain.workspaces.api_key import ApiKey
from ferryman.domain.workspaces.member import Membership, Right, Role
from ferryman.domain.workspaces.workspace import Workspace, WorkspaceState
from tests.builders import START

KEY = ApiKey(owner="o", person="p", workspace="w", created_at=START)
MEMBERSHIP = Membership(owner="o", workspace="w", person="p", role=Role.OPERATOR, created_at=START)
WORKSPACE = Workspace(id="w", owner="o", name="W", created_at=START, updated_at=START)
ACCESS = KeyAccess(owner=Owner(id="o", plan="pro", created_at=START), workspace=WORKSPACE, membership=MEMBERSHIP)


def test_a_workspace_of_its_owner_is_found() -> None:
    assert ACCESS.finds_workspace(KEY)


@pytest.mark.parametrize(
    "workspace", [None, replace(WORKSPACE, owner="x"), replace(WORKSPACE, state=WorkspaceState.DELETING)], ids=str
)
def test_a_workspace_that_is_not_there_or_somebody_else_s_or_deleted_is_not_found(workspace: Workspace | None) -> None:
    assert not replace(ACCESS, workspace=workspace).finds_workspace(KEY)


def test_a_member_has_the_rights_of_the_role() -> None:
    assert judge_key(KEY, ACCESS, now=START) == {Right.READ, Right.RUN}


@pytest.mark.parametrize("change", [{"person": "x"}, {"workspace": "x"}, {"owner": "x"}], ids=str)
def test_the_membership_of_somebody_else_or_elsewhere_lets_nobody_in(change: dict[str, str]) -> None:
    assert judge_key(KEY, replace(ACCESS, membership=replace(MEMBERSHIP, **change)), now=START) is None


@pytest.mark.parametrize(("seconds", "rights"), [(1, {Right.READ, Right.RUN}), (0, None), (-1, None)])
def test_a_key_ends_at_the_moment_of_its_expiry(seconds: int, rights: set[Right] | None) -> None:
    key = replace(KEY, expires_at=START + timedelta(seconds=seconds))
    assert judge_key(key, ACCESS, now=START) == rights


def test_a_key_whose_owner_is_gone_lets_nobody_in() -> None:
    assert judge_key(KEY, replace(ACCESS, owner=None), now=START) is None
