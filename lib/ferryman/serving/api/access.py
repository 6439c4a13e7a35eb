"""Access control: authenticate who asks by API key (only its digest is stored); what belongs to others is not found.

A request acts in one workspace. What is in another one is not found either, with the same answer as what does not exist.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Header, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.exceptions import HTTPException

from ferryman.composition.api import ApiDependencies
from ferryman.domain.executions.execution import Execution
from ferryman.domain.owners.owner import Owner
from ferryman.domain.owners.plan import Plan
from ferryman.domain.tasks.task import Task
from ferryman.domain.workspaces.member import EVERY_RIGHT, Right
from ferryman.domain.workspaces.names import Placed, derive_default_workspace
from ferryman.serving import keys
from ferryman.serving.api.errors import NotFoundError
from ferryman.serving.api.limits import REQUEST_S, REQUESTS_MAX, take_turn

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", re.ASCII)

WORKSPACE_HEADER = "Ferryman-Workspace"
WORKSPACE_ABOUT = "The id of the workspace that the request acts in; without it the key's own, or else the owner's default one"

_bearer = HTTPBearer(auto_error=False, scheme_name="api_key", description="An API key: fm_ and 43 characters")


async def _get_dependencies(request: Request) -> ApiDependencies:
    deps: ApiDependencies = request.app.state.deps
    return deps


Dependencies = Annotated[ApiDependencies, Depends(_get_dependencies)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks, where, and what the request may do. `person` is "" for the owner's own key."""

    owner: Owner
    workspace: str
    rights: frozenset[Right]
    person: str = ""

    def sees(self, item: Placed) -> bool:
        """Tell whether `item` is in the workspace that the request acts in; any other item is not found."""
        return (item.owner, item.workspace) == (self.owner.id, self.workspace)


async def _caller(
    request: Request,
    deps: Dependencies,
    _: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)],
    workspace: Annotated[str | None, Header(alias=WORKSPACE_HEADER, description=WORKSPACE_ABOUT)] = None,
) -> AsyncIterator[Caller]:
    key = keys.parse_key(request.headers.get("authorization"))
    if key is None:
        raise build_unauthorized_error()
    digest = keys.digest_key(key)
    # an owner has one key: a flood of requests waits before anything is read for it
    async with take_turn(deps.requests_of, digest, most=REQUESTS_MAX, within_s=REQUEST_S, what="requests"):
        known = await deps.owners.by_key(digest)
        owner = None if known is None else await deps.owners.get(known)
        if owner is None:
            raise build_unauthorized_error()
        caller = Caller(owner=owner, workspace=workspace or derive_default_workspace(owner.id), rights=EVERY_RIGHT)
        request.state.caller = caller
        yield caller


def build_unauthorized_error() -> HTTPException:
    """Return the 401 for a request without a valid API key."""
    return HTTPException(401, "a valid API key is required: Authorization: Bearer fm_…", {"WWW-Authenticate": "Bearer"})


# over when the route has answered: a stream of events holds no turn while it is sent
CurrentCaller = Annotated[Caller, Depends(_caller, scope="function")]


async def _owner(caller: CurrentCaller) -> Owner:
    return caller.owner


CurrentOwner = Annotated[Owner, Depends(_owner, scope="function")]


def need(right: Right) -> Callable[[Caller], Awaitable[Caller]]:
    """Return the dependency of a route that needs `right`: it raises 403, and names the right, where the request lacks it."""

    async def check_right(caller: CurrentCaller) -> Caller:
        if right not in caller.rights:
            raise HTTPException(403, f"this needs the right {right}, which you do not have in this workspace")
        return caller

    return check_right


Reader = Annotated[Caller, Depends(need(Right.READ), scope="function")]
Runner = Annotated[Caller, Depends(need(Right.RUN), scope="function")]
Approver = Annotated[Caller, Depends(need(Right.APPROVE), scope="function")]
Manager = Annotated[Caller, Depends(need(Right.MANAGE), scope="function")]


def get_plan(deps: ApiDependencies, owner: Owner) -> Plan:
    """Return the owner's plan. Raise 403 where it cannot run tasks."""
    plan = deps.plans.get(owner.plan)
    if plan is None:
        raise HTTPException(403, f"tasks are not available on your plan; they are on: {', '.join(deps.plans)}")
    return plan


def name_services(task: Task, deps: ApiDependencies, having: str) -> str:
    """Return the names of the task's services whose entry in the catalog has the field `having`, as a list for people."""
    known = [name for name in task.integrations if getattr(deps.integrations.get(name), having, None)]
    return ", ".join(known) or "it has none"


async def _task(request: Request, task_id: str, deps: Dependencies, caller: CurrentCaller) -> Task:
    task = await deps.tasks.get(task_id) if _ID.fullmatch(task_id) else None
    if task is None or not caller.sees(task):
        raise NotFoundError("task")
    request.state.task = task
    return task


async def _execution(execution_id: str, deps: Dependencies, caller: CurrentCaller) -> Execution:
    execution = await deps.executions.get(execution_id) if _ID.fullmatch(execution_id) else None
    if execution is None or not caller.sees(execution):
        raise NotFoundError("execution")
    return execution


OwnedTask = Annotated[Task, Depends(_task)]
OwnedExecution = Annotated[Execution, Depends(_execution)]
