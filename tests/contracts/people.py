"""People of the contract tests: an invitation to one workspace, who takes it, and whether they are in."""

from __future__ import annotations

from ferryman.domain.workspaces.access import judge_key
from ferryman.domain.workspaces.member import Membership, Role
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.domain.workspaces.person import INVITATION_LIFETIME, Invitation
from ferryman.domain.workspaces.workspace import Workspace

from .conftest import Stores
from .values import NOW

HERE = derive_default_workspace("ann")
OTHER = Workspace(id="ws_other", owner="ann", name="Other", created_at=NOW, updated_at=NOW)


def invite(
    name: str = "Eve", *, role: Role = Role.OPERATOR, workspace: str = HERE, by: str = "", approves: bool = False
) -> Invitation:
    return Invitation(
        id=f"inv_{name}_{workspace}",
        owner="ann",
        workspace=workspace,
        name=name,
        role=role,
        approves=approves,
        invited_by=by,
        created_at=NOW,
        expires_at=NOW + INVITATION_LIFETIME,
    )


async def join(
    stores: Stores, person: str, *, role: Role = Role.OPERATOR, workspace: str = HERE, new: bool = True
) -> Membership:
    token = f"token of {person} {workspace}"
    await stores.invitations.create(token, invite(person, role=role, workspace=workspace), now=NOW)
    return await take(stores, token, person, new=new)


async def take(stores: Stores, token: str, person: str, *, new: bool = True) -> Membership:
    joined = await stores.invitations.take(
        token, person=person, is_new=new, key=f"key_{token}", key_digest=f"digest {token}", now=NOW
    )
    assert joined is not None
    return joined[0]


async def is_in(stores: Stores, person: str) -> bool:
    key = await stores.keys.find(f"digest token of {person} {HERE}")
    return key is not None and judge_key(key, await stores.keys.read_access(key, HERE), now=NOW) is not None
