"""Invitations: each is good while who made it may still give what it gives."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ferryman.domain.workspaces.member import Membership, Role
from ferryman.domain.workspaces.person import INVITATION_LIFETIME, Invitation
from tests.builders import START

ADMIN = Membership(owner="o", workspace="w", person="p", role=Role.ADMIN, created_at=START)
INVITATION = Invitation(
    id="inv_1",
    owner="o",
    workspace="w",
    name="Bea",
    role=Role.OPERATOR,
    invited_by="p",
    created_at=START,
    expires_at=START + INVITATION_LIFETIME,
)


def test_the_owner_needs_no_membership() -> None:
    assert replace(INVITATION, invited_by="").is_backed_by(None)


def test_an_admin_gives_the_rights_of_a_role() -> None:
    assert INVITATION.is_backed_by(ADMIN)


@pytest.mark.parametrize("inviter", [None, replace(ADMIN, owner="x"), replace(ADMIN, role=Role.OPERATOR)], ids=str)
def test_who_left_or_is_another_owner_s_or_no_admin_gives_nothing(inviter: Membership | None) -> None:
    assert not INVITATION.is_backed_by(inviter)


@pytest.mark.parametrize("approves", [True, False])
def test_the_right_to_approve_is_given_by_those_who_have_it(approves: bool) -> None:
    assert replace(INVITATION, approves=True).is_backed_by(replace(ADMIN, approves=approves)) is approves
