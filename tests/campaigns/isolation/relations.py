"""Relations: what is between the two sides, and how each comes into a deployment."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from ferryman.domain.workspaces.member import Role
from tests.campaigns.isolation.attempts import Attempt
from tests.campaigns.isolation.deployment import Caller, Deployment

ATTACKER, VICTIM = "attacker", "victim"
OWNER = "ann"
HEADER = "Ferryman-Workspace"
OF_THE_OWNER = ("/v1/workspaces/", "/v1/jobs/", "/v1/budget/", "/v1/me/")
Arrival = Callable[[Deployment], Awaitable[Caller]]


def allow_nothing(_: Attempt) -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """What is between the two sides: how the attacker comes into a deployment, then the other; and what `allows` an attempt."""

    name: str
    attacker: Arrival
    victim: Arrival
    allows: Callable[[Attempt], bool] = allow_nothing
    shares_workspace: bool = False
    """Whether both are in one workspace, whose files, agents, conversations and schedules every task of it may read."""


async def add_other_owner(deployment: Deployment) -> Caller:
    return deployment.add_owner(ATTACKER, "bob")


async def add_owner(deployment: Deployment) -> Caller:
    return deployment.add_owner(VICTIM, OWNER)


async def add_attackers_workspace(deployment: Deployment) -> Caller:
    """Return the owner's own key in a workspace that is not the default one."""
    return await _add_workspace(deployment, deployment.add_owner(ATTACKER, OWNER))


async def add_other_workspace(deployment: Deployment) -> Caller:
    return await _add_workspace(deployment, deployment.add_owner(VICTIM, OWNER))


async def _add_workspace(deployment: Deployment, caller: Caller) -> Caller:
    created = await deployment.ask(caller, "POST", "/v1/workspaces", body={"name": caller.side, "max_credits_month": "500"})
    workspace = str(created["workspace_id"])
    return replace(caller, workspace=workspace, headers={**caller.headers, HEADER: workspace})


async def add_attackers_person(deployment: Deployment) -> Caller:
    """Return an admin of a workspace, with all that an admin may do there."""
    return deployment.add_person(await add_attackers_workspace(deployment), Role.ADMIN)


async def add_other_person(deployment: Deployment) -> Caller:
    return deployment.add_person(await add_other_workspace(deployment), Role.ADMIN)


async def add_colleague(deployment: Deployment) -> Caller:
    """Return another admin of the workspace that the attacker is in."""
    members = deployment.stage.memory.memberships.values()
    admin = next(known for known in members if known.role is Role.ADMIN)
    return deployment.add_person(Caller(side=VICTIM, owner=OWNER, workspace=admin.workspace, headers={}), Role.ADMIN)


def allow_colleagues(attempt: Attempt) -> bool:
    """Allow what is the workspace's; keys of requests and cursors are of who was given them."""
    return attempt.kind not in ("an idempotency key", "a cursor of a list")


def allow_workspaces(attempt: Attempt) -> bool:
    """Allow the owner's own key what is the owner's: every workspace, jobs, budget and statement of all, and the balance."""
    of_the_owner = f"{attempt.path}/".startswith(OF_THE_OWNER) or attempt.query.get("by") == "workspace"
    return of_the_owner or "workspace" in attempt.aims


RELATIONS = (
    Relation(name="another owner", attacker=add_other_owner, victim=add_owner),
    Relation(
        name="another workspace of the owner",
        attacker=add_attackers_workspace,
        victim=add_other_workspace,
        allows=allow_workspaces,
    ),
    Relation(name="a person of another workspace", attacker=add_attackers_person, victim=add_other_person),
    Relation(
        name="a person of the same workspace",
        attacker=add_attackers_person,
        victim=add_colleague,
        allows=allow_colleagues,
        shares_workspace=True,
    ),
)
