"""Invitations: each is taken once, and gives only what who made it may still give, into an active workspace alone."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from ferryman.domain.jobs.job import JobKind
from ferryman.domain.stale import StaleError
from ferryman.domain.workspaces.access import judge_key
from ferryman.domain.workspaces.api_key import ApiKey
from ferryman.domain.workspaces.member import Membership, Right, Role
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.domain.workspaces.person import INVITATION_LIFETIME, AlreadyMemberError
from ferryman.domain.workspaces.workspace import WorkspaceClosedError, WorkspaceGoneError, WorkspaceState

from .belongings import build_job
from .conftest import Stores
from .people import HERE, OTHER, invite, join, take
from .values import NOW, OWNER


async def test_an_invitation_makes_a_person_a_membership_and_a_key(stores: Stores) -> None:
    await stores.owners.put(OWNER)
    membership = await join(stores, "eve")
    assert (membership.person, membership.role, membership.workspace) == ("eve", Role.OPERATOR, HERE)
    person = await stores.members.find_person("eve", owner="ann")
    assert person is not None
    assert person.name == "eve"
    assert await stores.members.list("ann", HERE) == [(membership, person)]
    key = await stores.keys.find(f"digest token of eve {HERE}")
    assert key is not None
    access = await stores.keys.read_access(key, HERE)
    assert (access.owner, access.membership) == (OWNER, membership)
    assert judge_key(key, access, now=NOW) == frozenset({Right.READ, Right.RUN})


async def test_a_join_leaves_one_audit_entry_that_names_who_joined_however_often_it_is_asked_for(stores: Stores) -> None:
    await join(stores, "eve")
    token = f"token of eve {HERE}"
    await take(stores, token, "eve")
    entries = (await stores.audit.list("ann", HERE, most=9)).items
    assert [(entry.action, entry.person, entry.key, entry.targets, entry.done) for entry in entries] == [
        ("joinWorkspace", "eve", f"key_{token}", (f"inv_eve_{HERE}", "eve"), True)
    ]


async def test_an_invitation_is_taken_once_however_many_try_at_once(stores: Stores) -> None:
    await stores.invitations.create("token", invite(), now=NOW)
    tries = (
        stores.invitations.take("token", person=f"p{number}", is_new=True, key=f"k{number}", key_digest=f"d{number}", now=NOW)
        for number in range(6)
    )
    came = [joined for joined in await asyncio.gather(*tries) if joined is not None]
    assert [membership.person for membership, _ in await stores.members.list("ann", HERE)] == [came[0][0].person]
    assert len(came) == 1
    assert len(await stores.keys.list("ann", HERE)) == 1


async def test_who_takes_an_invitation_again_with_the_same_key_is_who_has_it(stores: Stores) -> None:
    await stores.invitations.create("token", invite(), now=NOW)
    first = await try_again(stores, "p1")
    assert first is not None
    assert [await try_again(stores, "p2"), await try_again(stores, "p1", new=False)] == [first, first]
    assert len(await stores.members.list("ann", HERE)) == len(await stores.keys.list("ann", HERE)) == 1
    assert await try_again(stores, "p2", new=False) is None
    assert await try_again(stores, "p2", digest="of another key") is None


async def test_a_key_that_is_good_for_nothing_is_not_answered_again(stores: Stores) -> None:
    for end in ("revoked", "removed"):
        await stores.invitations.create("token", invite(end), now=NOW)
        first = await try_again(stores, end)
        assert first is not None
        if end == "revoked":
            await stores.keys.revoke(first[1].id, owner="ann", workspace=HERE)
        else:
            await stores.members.remove(end, owner="ann", workspace=HERE, forced=True)
        assert await try_again(stores, end) is None


async def try_again(
    stores: Stores, person: str, *, new: bool = True, digest: str = "digest"
) -> tuple[Membership, ApiKey] | None:
    """Take an invitation as an attempt does whose key derives from token and secret: the ids of each attempt are its own."""
    return await stores.invitations.take("token", person=person, is_new=new, key=f"key of {person}", key_digest=digest, now=NOW)


async def test_an_invitation_that_has_expired_or_was_withdrawn_lets_nobody_in(stores: Stores) -> None:
    await stores.invitations.create("old", invite("Old"), now=NOW)
    await stores.invitations.create("gone", invite("Gone"), now=NOW)
    assert [known.name for known in await stores.invitations.list("ann", HERE, now=NOW)] == ["Gone", "Old"]
    assert await stores.invitations.withdraw(f"inv_Gone_{HERE}", owner="bob", workspace=HERE) is False
    assert await stores.invitations.withdraw(f"inv_Gone_{HERE}", owner="ann", workspace=HERE) is True
    late = NOW + INVITATION_LIFETIME
    for token in ("old", "gone", "none"):
        membership = await stores.invitations.take(token, person="p", is_new=True, key="k", key_digest="d", now=late)
        assert membership is None
    assert await stores.invitations.list("ann", HERE, now=late) == []
    assert await stores.keys.find("d") is None


@pytest.mark.parametrize("state", [state for state in WorkspaceState if state is not WorkspaceState.ACTIVE])
async def test_nobody_is_let_into_a_workspace_that_is_not_active(stores: Stores, state: WorkspaceState) -> None:
    await stores.workspaces.create(OTHER)
    await stores.invitations.create("token", invite(workspace=OTHER.id), now=NOW)
    await stores.workspaces.update(replace(OTHER, state=state), ["state"], since=OTHER.updated_at)
    assert await try_again(stores, "p") is None
    assert await stores.members.find_person("p", owner="ann") is None


@pytest.mark.parametrize("state", [state for state in WorkspaceState if state is not WorkspaceState.ACTIVE])
async def test_nobody_is_invited_into_a_workspace_that_is_not_active(stores: Stores, state: WorkspaceState) -> None:
    await stores.workspaces.create(replace(OTHER, state=state))
    with pytest.raises(WorkspaceGoneError if state is WorkspaceState.DELETING else WorkspaceClosedError):
        await stores.invitations.create("token", invite(workspace=OTHER.id), now=NOW)
    assert await stores.invitations.list("ann", OTHER.id, now=NOW) == []


@pytest.mark.parametrize("workspace", ["ws_none", derive_default_workspace("bob")])
async def test_nobody_is_invited_into_a_workspace_that_the_owner_has_not(stores: Stores, workspace: str) -> None:
    with pytest.raises(WorkspaceGoneError):
        await stores.invitations.create("token", invite(workspace=workspace), now=NOW)
    assert await stores.invitations.list("ann", workspace, now=NOW) == []


async def test_of_invitations_into_a_workspace_while_it_is_deleted_none_outlives_the_deletion(stores: Stores) -> None:
    await stores.workspaces.create(OTHER)
    inviting = [
        stores.invitations.create(f"token {number}", invite(f"{number}", workspace=OTHER.id), now=NOW) for number in range(3)
    ]
    job = build_job(JobKind.DELETE_WORKSPACE, OTHER.id, workspace=OTHER.id)
    *came, started = await asyncio.gather(*inviting[:2], stores.jobs.start(job), return_exceptions=True)
    known = [invitation.name for invitation in await stores.invitations.list("ann", OTHER.id, now=NOW)]
    assert started is None
    assert len(known) == came.count(None)
    assert {type(answer) for answer in came} <= {type(None), WorkspaceGoneError}
    with pytest.raises(WorkspaceGoneError):
        await inviting[2]


@pytest.mark.parametrize("role", [Role.OPERATOR, Role.VIEWER])
async def test_the_invitation_of_an_admin_who_is_none_any_more_lets_nobody_in(stores: Stores, role: Role) -> None:
    await join(stores, "boss", role=Role.ADMIN)
    eve = await join(stores, "eve", role=Role.ADMIN)
    await stores.invitations.create("token", invite("Back", role=Role.VIEWER, by="eve"), now=NOW)
    assert await stores.members.update(replace(eve, role=role), ["role"])
    assert await try_again(stores, "back") is None
    assert await stores.members.find_person("back", owner="ann") is None


async def test_an_invitation_gives_the_right_to_approve_only_while_who_made_it_has_it(stores: Stores) -> None:
    eve = await join(stores, "eve", role=Role.ADMIN)
    await stores.members.update(replace(eve, approves=True), ["approves"])
    await stores.invitations.create("token", invite(approves=True, by="eve"), now=NOW)
    await stores.members.update(eve, ["approves"])
    assert await try_again(stores, "p") is None
    await stores.members.update(replace(eve, approves=True), ["approves"])
    joined = await try_again(stores, "p")
    assert joined is not None
    assert joined[0].approves


async def test_the_invitation_of_an_admin_who_was_removed_lets_nobody_in(stores: Stores) -> None:
    await join(stores, "boss", role=Role.ADMIN)
    await join(stores, "eve", role=Role.ADMIN)
    await stores.invitations.create("token", invite("Back", role=Role.ADMIN, by="eve"), now=NOW)
    await stores.members.remove("eve", owner="ann", workspace=HERE)
    assert await try_again(stores, "back") is None


@pytest.mark.parametrize("loss", ["removed", "demoted", "never there"])
async def test_who_may_not_invite_any_more_stores_no_invitation(stores: Stores, loss: str) -> None:
    await join(stores, "boss", role=Role.ADMIN)
    if loss != "never there":
        eve = await join(stores, "eve", role=Role.ADMIN)
    if loss == "removed":
        await stores.members.remove("eve", owner="ann", workspace=HERE)
    elif loss == "demoted":
        await stores.members.update(replace(eve, role=Role.OPERATOR), ["role"])
    with pytest.raises(StaleError):
        await stores.invitations.create("token", invite("Back", role=Role.VIEWER, by="eve"), now=NOW)
    assert await stores.invitations.list("ann", HERE, now=NOW) == []


async def test_of_an_admin_who_invites_while_they_are_removed_no_invitation_is_left(stores: Stores) -> None:
    await join(stores, "boss", role=Role.ADMIN)
    await join(stores, "eve", role=Role.ADMIN)
    inviting = (
        stores.invitations.create(f"token {number}", invite(f"Back {number}", by="eve"), now=NOW) for number in range(3)
    )
    removing = stores.members.remove("eve", owner="ann", workspace=HERE)
    *came, removed = await asyncio.gather(*inviting, removing, return_exceptions=True)
    assert removed is True
    assert {type(answer) for answer in came} <= {type(None), StaleError}
    assert await stores.invitations.list("ann", HERE, now=NOW) == []


async def test_of_an_admin_who_is_demoted_while_their_invitation_is_taken_nobody_gets_in_after(stores: Stores) -> None:
    await join(stores, "boss", role=Role.ADMIN)
    eve = await join(stores, "eve", role=Role.ADMIN)
    for number in range(3):
        await stores.invitations.create(f"token {number}", invite(f"Back {number}", by="eve"), now=NOW)
    taking = (
        stores.invitations.take(f"token {number}", person=f"p{number}", is_new=True, key="k", key_digest=f"d{number}", now=NOW)
        for number in range(2)
    )
    *came, demoted = await asyncio.gather(*taking, stores.members.update(replace(eve, role=Role.VIEWER), ["role"]))
    assert demoted is True
    inside = [membership.person for membership, _ in await stores.members.list("ann", HERE)]
    assert {joined[0].person for joined in came if joined is not None} == set(inside) - {"boss", "eve"}
    assert await stores.invitations.take("token 2", person="p2", is_new=True, key="k", key_digest="d2", now=NOW) is None


async def test_somebody_who_is_there_already_may_join_another_workspace_of_the_owner(stores: Stores) -> None:
    await stores.workspaces.create(OTHER)
    await join(stores, "eve")
    await join(stores, "eve", workspace=OTHER.id, new=False)
    assert [known.person for known, _ in await stores.members.list("ann", OTHER.id)] == ["eve"]
    await stores.invitations.create("again", invite(), now=NOW)
    with pytest.raises(AlreadyMemberError):
        await take(stores, "again", "eve", new=False)
    strangers = await stores.invitations.take("again", person="nobody", is_new=False, key="k", key_digest="d", now=NOW)
    assert strangers is None


async def test_a_person_of_another_owner_takes_no_invitation(stores: Stores) -> None:
    theirs = replace(invite(), owner="bob", workspace=derive_default_workspace("bob"))
    await stores.invitations.create("token of bob", theirs, now=NOW)
    await take(stores, "token of bob", "eve")
    await stores.invitations.create("token", invite(), now=NOW)
    assert await stores.invitations.take("token", person="eve", is_new=False, key="k", key_digest="d", now=NOW) is None
    assert await stores.members.list("ann", HERE) == []
