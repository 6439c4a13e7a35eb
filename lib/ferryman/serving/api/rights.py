"""Rights: what each route needs of who asks. A route that names nothing is refused to everybody."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from starlette.exceptions import HTTPException

from ferryman.domain.owners.owner import Owner
from ferryman.domain.workspaces.api_key import ApiKey
from ferryman.domain.workspaces.member import Membership, Right
from ferryman.domain.workspaces.names import Placed
from ferryman.domain.workspaces.workspace import CLOSED, WorkspaceClosedError, WorkspaceState


class RouteNeed(StrEnum):
    """What a route asks for: one of the rights, any API key that is valid, or the owner's own key."""

    READ = Right.READ
    RUN = Right.RUN
    APPROVE = Right.APPROVE
    MANAGE = Right.MANAGE
    KEY = "key"
    OWNER = "owner"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks, where, and what the request may do. `person` is "" for the owner, who is no member and needs not be.

    A workspace in another `state` than active can be read, and nothing in it is started or changed.
    """

    owner: Owner
    workspace: str
    rights: frozenset[Right]
    key: ApiKey
    digest: str
    membership: Membership | None = None
    state: WorkspaceState = WorkspaceState.ACTIVE

    @property
    def person(self) -> str:
        """The person who asks, "" for the owner."""
        return self.key.person

    def sees(self, item: Placed) -> bool:
        """Tell whether `item` is in the workspace that the request acts in; any other item is not found."""
        return (item.owner, item.workspace) == (self.owner.id, self.workspace)


READING = ("GET", "HEAD")
"""The methods of requests that change nothing."""

_NEEDS: dict[Any, RouteNeed] = {}
"""What each of the dependencies that routes have checks."""


def register_need(check: Callable[..., Any], need: RouteNeed) -> None:
    """Remember that `check` is the dependency of routes that have this need."""
    _NEEDS[check] = need


def find_needs(dependant: Any) -> list[RouteNeed]:
    """Return what a route needs, whose dependencies these are, with theirs: one that is empty is refused to everybody."""
    needs = []
    for dependency in dependant.dependencies:
        needs += [_NEEDS[dependency.call]] if dependency.call in _NEEDS else find_needs(dependency)
    return needs


def check_needs(needs: Sequence[RouteNeed], caller: Caller) -> None:
    """Raise 403, which names what is missing and where, if the request may not do what the route needs; 409 where the
    workspace is archived, or an archive is being imported into it."""
    if not needs:
        raise RuntimeError("the route names no right")
    if RouteNeed.OWNER in needs and not caller.key.is_own:
        raise HTTPException(403, "this needs the owner's own API key: no role and no scope gives the right to it")
    rights = [Right(need) for need in needs if need not in (RouteNeed.KEY, RouteNeed.OWNER)]
    for right in rights:
        check_right(right, caller)
    if caller.state in CLOSED and any(right is not Right.READ for right in rights):
        raise WorkspaceClosedError(caller.state)


def check_not_narrowed(method: str, caller: Caller) -> None:
    """Raise 403 where the API key is narrowed to tools and the request does anything but read: what it would start or change
    could reach more than those tools."""
    if caller.key.tools is not None and method not in READING:
        raise HTTPException(403, "this API key is for its tools at /mcp; anything else it can only read")


def check_given(rights: frozenset[Right], caller: Caller) -> None:
    """Raise 403 where `rights`, which the request would give to somebody, are more than it has itself."""
    for right in sorted(rights):
        check_right(right, caller)


def check_whole(caller: Caller) -> None:
    """Raise 403 where the API key has not every right of the person who holds it: one that was made for less ends nothing."""
    for right in Right if caller.membership is None else sorted(caller.membership.rights):
        check_right(right, caller)


def check_right(right: Right, caller: Caller) -> None:
    """Raise 403 if the request has not this right."""
    if right in caller.rights:
        return
    if right not in caller.key.scopes:
        raise HTTPException(403, f"this needs the right {right}, which is not among the scopes of this API key")
    assert caller.membership is not None, "the owner has every right that is among the key's scopes"
    if right is Right.APPROVE:
        raise HTTPException(403, f"this needs the right {right}, which your membership of this workspace does not have")
    raise HTTPException(
        403, f"this needs the right {right}, which your role {caller.membership.role} in this workspace does not have"
    )
