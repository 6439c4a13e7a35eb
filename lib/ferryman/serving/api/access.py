"""Access control: authenticate who asks by API key (only its digest is stored); what belongs to others is not found.

A request acts in one workspace. What is in another one is not found either, with the same answer as what does not exist.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import Depends, Header, Request, Response, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.exceptions import HTTPException

from ferryman.composition.api import ApiDependencies
from ferryman.domain.conversations.chat_task import derive_chat_task
from ferryman.domain.executions.execution import Execution
from ferryman.domain.ids import is_id
from ferryman.domain.owners.owner import Owner
from ferryman.domain.owners.plan import Plan
from ferryman.domain.tasks.task import Task
from ferryman.domain.workspaces.access import judge_key
from ferryman.domain.workspaces.api_key import ApiKey
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.domain.workspaces.workspace import WorkspaceState
from ferryman.serving import keys
from ferryman.serving.api.auditing import note_use, record_change
from ferryman.serving.api.errors import NotFoundError
from ferryman.serving.api.groups import AGENTS
from ferryman.serving.api.limits import OWNER_REQUESTS_MAX, REQUEST_S, REQUESTS_MAX, take_turn
from ferryman.serving.api.rights import Caller, RouteNeed, check_needs, check_not_narrowed, find_needs, register_need

WORKSPACE_HEADER = "Ferryman-Workspace"
WORKSPACE_ABOUT = "The id of the workspace that the request acts in; without it the key's own, or else the owner's default one"

_bearer = HTTPBearer(auto_error=False, scheme_name="api_key", description="An API key: fm_ and 43 characters")


async def _get_dependencies(request: Request) -> ApiDependencies:
    deps: ApiDependencies = request.app.state.deps
    return deps


Dependencies = Annotated[ApiDependencies, Depends(_get_dependencies)]


KEY_DIGEST = "ferryman.key_digest"
"""Where the ASGI scope of a request that the console makes in this process has the digest of its session's API key: what
comes over a network has no such entry."""

SESSION_ENTRY = "ferryman.session"
"""Where such a scope has the secret of the session's cookie, which is in the place of the API key that nobody has then."""


def read_secret(request: Request) -> str:
    """Return the secret of who asks, which is stored nowhere: the API key, or the secret of the console's session.

    Raises 401 where the request has none.
    """
    secret: str | None = request.scope.get(SESSION_ENTRY) or keys.parse_key(request.headers.get("authorization"))
    if secret is None:
        raise build_unauthorized_error()
    return secret


async def _caller(
    request: Request,
    deps: Dependencies,
    _: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)],
    response: Response,
    workspace: Annotated[str | None, Header(alias=WORKSPACE_HEADER, description=WORKSPACE_ABOUT)] = None,
) -> AsyncIterator[Caller]:
    digest = request.scope.get(KEY_DIGEST) or keys.digest_key(read_secret(request))
    # a flood of requests with one key waits before anything is read for it
    async with take_turn(deps.requests_of, digest, most=REQUESTS_MAX, within_s=REQUEST_S, what="requests"):
        key = await deps.keys.find(digest)
        if key is None:
            raise build_unauthorized_error()
        # an owner's keys may be many, and one owner must not fill the instance with them
        async with take_turn(deps.requests_of_owner, key.owner, most=OWNER_REQUESTS_MAX, within_s=REQUEST_S, what="requests"):
            caller = await authenticate_key(deps, digest, key, workspace)
            request.state.caller = caller
            check_not_narrowed(request.method, caller)
            needs = find_needs(request.scope["route"].dependant)
            check_needs(needs, caller)
            note_use(deps, caller)
            async with record_change(deps, request, response, caller, needs):
                yield caller


async def authenticate_key(deps: ApiDependencies, digest: str, key: ApiKey, named: str | None) -> Caller:
    """Return who holds `key`, in the workspace that the request `named`. Raise 401, and 404 for any other workspace."""
    # a text that is no id is never looked up, and is answered as an unknown one is
    here = key.workspace or (named if named and is_id(named) else derive_default_workspace(key.owner))
    access = await deps.keys.read_access(key, here)
    rights = judge_key(key, access, now=deps.clock.now())
    if rights is None or access.owner is None:
        raise build_unauthorized_error()
    if (named or here) != here or not access.finds_workspace(key):
        raise NotFoundError("workspace")
    state = WorkspaceState.ACTIVE if access.workspace is None else access.workspace.state
    return Caller(
        owner=access.owner,
        workspace=here,
        rights=rights,
        key=key,
        digest=digest,
        membership=access.membership,
        state=state,
    )


def build_unauthorized_error() -> HTTPException:
    """Return the 401 for a request without a valid API key."""
    return HTTPException(401, "a valid API key is required: Authorization: Bearer fm_…", {"WWW-Authenticate": "Bearer"})


# over when the route has answered: a stream of events holds no turn while it is sent
CurrentCaller = Annotated[Caller, Depends(_caller, scope="function")]


async def _owner(caller: CurrentCaller) -> Owner:
    return caller.owner


CurrentOwner = Annotated[Owner, Depends(_owner, scope="function")]


def _name_need(need: RouteNeed) -> Any:
    """Return the dependency of the routes that have this need, which `_caller` has checked before all they ask for."""

    async def get_caller(caller: CurrentCaller) -> Caller:
        return caller

    register_need(get_caller, need)
    return Depends(get_caller, scope="function")


READS, RUNS, MANAGES = map(_name_need, (RouteNeed.READ, RouteNeed.RUN, RouteNeed.MANAGE))
APPROVES = _name_need(RouteNeed.APPROVE)
ASKS, OWNS = map(_name_need, (RouteNeed.KEY, RouteNeed.OWNER))
"""What every route has among its dependencies, unless it needs no API key: the right that it needs, any valid API key, or the
owner's own one."""

Reader = Annotated[Caller, READS]
Runner = Annotated[Caller, RUNS]
Manager = Annotated[Caller, MANAGES]
Approver = Annotated[Caller, APPROVES]
Asker = Annotated[Caller, ASKS]
Principal = Annotated[Caller, OWNS]
"""Each gives the route its caller too."""


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
    task = await deps.tasks.get(task_id) if is_id(task_id) else None
    if task is None and request.url.path.startswith(AGENTS):
        # under the address of the tool-calling page, an agent is its chat task
        task = await deps.tasks.get(derive_chat_task(task_id))
    if task is None or not caller.sees(task):
        raise NotFoundError("task")
    request.state.task = task
    return task


async def _execution(execution_id: str, deps: Dependencies, caller: CurrentCaller) -> Execution:
    execution = await deps.executions.get(execution_id) if is_id(execution_id) else None
    if execution is None or not caller.sees(execution):
        raise NotFoundError("execution")
    return execution


OwnedTask = Annotated[Task, Depends(_task)]
OwnedExecution = Annotated[Execution, Depends(_execution)]
