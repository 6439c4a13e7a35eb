"""Workspaces over HTTP. Who has the owner's own key creates, archives, restores and deletes them; admins change settings."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from ferryman.composition.api import ApiDependencies
from ferryman.domain.changes import change_value
from ferryman.domain.ids import is_id
from ferryman.domain.jobs.job import JobKind
from ferryman.domain.problem import InvalidInputError, Problem
from ferryman.domain.workspaces import rules
from ferryman.domain.workspaces.workspace import CLOSED, Workspace, WorkspaceClosedError, WorkspaceState
from ferryman.serving.api import webhooks
from ferryman.serving.api.access import CurrentCaller, Dependencies, Manager, Principal, Reader
from ferryman.serving.api.alert_secret import issue_secret
from ferryman.serving.api.errors import ConflictError, NotFoundError
from ferryman.serving.api.idempotency import Idempotency, IdempotentRoute
from ferryman.serving.api.jobs import answer_again, build_job, find_started_job, start_job
from ferryman.serving.api.paging import ByName, cut_by_name
from ferryman.serving.api.rights import Caller
from ferryman.serving.api.shapes import workspace as shapes
from ferryman.serving.api.shapes.job import JobResponse
from ferryman.serving.api.shapes.rule import build_rules

router = APIRouter(route_class=IdempotentRoute, prefix="/v1/workspaces", tags=["workspaces"])


async def find_workspace(workspace_id: str, deps: Dependencies, caller: CurrentCaller) -> Workspace:
    """Return the workspace of the path. A key for one workspace tells of no other."""
    stored = None
    if is_id(workspace_id) and (caller.key.is_own or workspace_id == caller.workspace):
        stored = await deps.workspaces.get(workspace_id, owner=caller.owner.id)
    if stored is None or stored.state is WorkspaceState.DELETING:
        raise NotFoundError("workspace")
    return stored


OwnedWorkspace = Annotated[Workspace, Depends(find_workspace)]


@router.post("", status_code=201, summary="Create a workspace")
async def create_workspace(
    body: shapes.NewWorkspace, deps: Dependencies, caller: Principal, once: Idempotency, response: Response
) -> shapes.WorkspaceResponse:
    now = once.now
    workspace = Workspace(
        id=once.name("ws"), owner=caller.owner.id, created_at=now, updated_at=now, **_read_fields(body.model_dump())
    )
    await _check(deps, caller, workspace, checks_url=True)
    secret = issue_secret(deps, workspace)
    answer, location = shapes.to_response(workspace, secret), f"/v1/workspaces/{workspace.id}"
    done = await once.complete(201, answer, location=location)
    await deps.workspaces.create(workspace, done=done, secret=None if secret is None else secret.sealed)
    response.headers["Location"] = location
    return answer


@router.get("", summary="The workspaces that you can act in")
async def list_workspaces(deps: Dependencies, caller: Reader, paging: ByName) -> shapes.WorkspaceList:
    workspaces = [
        workspace
        for workspace in await deps.workspaces.list(caller.owner.id)
        if workspace.state is not WorkspaceState.DELETING and (caller.key.is_own or workspace.id == caller.workspace)
    ]
    here, following = cut_by_name(workspaces, paging, lambda workspace: workspace.id)
    return shapes.WorkspaceList(workspaces=tuple(map(shapes.WorkspaceResponse.model_validate, here)), next=following)


@router.get("/{workspace_id}", summary="One workspace")
async def get_workspace(workspace: OwnedWorkspace, _: Reader) -> shapes.WorkspaceResponse:
    return shapes.WorkspaceResponse.model_validate(workspace)


@router.patch("/{workspace_id}", summary="Change some settings of a workspace")
async def change_workspace(
    body: shapes.WorkspaceChange, workspace: OwnedWorkspace, deps: Dependencies, caller: Manager
) -> shapes.WorkspaceResponse:
    if workspace.state in CLOSED:
        raise WorkspaceClosedError(workspace.state)
    changes = _read_fields(body.model_dump(exclude_unset=True))
    changed = change_value(workspace, changes, now=deps.clock.now())
    await _check(deps, caller, changed, checks_url="alert_url" in changes)
    return await _update(deps, workspace, changed, changes)


@router.post("/{workspace_id}/archive", summary="Archive a workspace: it can be read, and nothing in it is started or changed")
async def archive_workspace(workspace: OwnedWorkspace, deps: Dependencies, _: Principal) -> shapes.WorkspaceResponse:
    if workspace.is_default:
        raise ConflictError("the default workspace cannot be archived")
    return await _set_state(deps, workspace, WorkspaceState.ARCHIVED)


@router.post("/{workspace_id}/restore", summary="Make an archived workspace active again")
async def restore_workspace(workspace: OwnedWorkspace, deps: Dependencies, _: Principal) -> shapes.WorkspaceResponse:
    return await _set_state(deps, workspace, WorkspaceState.ACTIVE)


@router.delete("/{workspace_id}", status_code=202, summary="Delete a workspace with everything in it")
async def delete_workspace(
    workspace_id: str, deps: Dependencies, caller: Principal, request: Request, response: Response
) -> JobResponse:
    try:
        workspace = await find_workspace(workspace_id, deps, caller)
        if workspace.is_default:
            raise ConflictError("the default workspace cannot be deleted")
        job = build_job(deps, caller, JobKind.DELETE_WORKSPACE, workspace.id, workspace=workspace.id)
        return await start_job(deps, caller, job, response)
    except NotFoundError:
        started = await find_started_job(deps, caller, (JobKind.DELETE_WORKSPACE,), workspace_id, workspace=workspace_id)
        if started is None:
            raise
        return answer_again(started, request, response)


def _read_fields(dumped: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a workspace that a body sets, as they are stored."""
    return {**dumped, "approvals": build_rules(dumped["approvals"])} if "approvals" in dumped else dumped


async def _set_state(deps: ApiDependencies, workspace: Workspace, state: WorkspaceState) -> shapes.WorkspaceResponse:
    if workspace.state is WorkspaceState.IMPORTING:
        raise ConflictError("the workspace is importing: finish its import, or delete it")
    if workspace.state is state:
        return shapes.WorkspaceResponse.model_validate(workspace)
    changes = {"state": state}
    return await _update(deps, workspace, change_value(workspace, changes, now=deps.clock.now()), changes)


async def _update(
    deps: ApiDependencies, before: Workspace, after: Workspace, changes: dict[str, Any]
) -> shapes.WorkspaceResponse:
    secret = issue_secret(deps, after) if "alert_url" in changes else None
    sealed = None if secret is None else secret.sealed
    if not await deps.workspaces.update(after, tuple(changes), since=before.updated_at, secret=sealed):
        raise NotFoundError("workspace")
    return shapes.to_response(after, secret)


async def _check(deps: ApiDependencies, caller: Caller, workspace: Workspace, *, checks_url: bool) -> None:
    """Raise `InvalidInputError` with every problem of all fields; a new address for alerts must resolve to public ones."""
    problems = rules.find_workspace_problems(
        workspace, plan=deps.plans.get(caller.owner.plan), retention_days=deps.retention_days
    )
    url = workspace.alert_url
    if checks_url and url is not None and not any(problem.field == "alert_url" for problem in problems):
        unresolved = await webhooks.find_problems([url], deps.names, owner=caller.owner.id)
        problems += [Problem("alert_url", problem.message) for problem in unresolved]
    if problems:
        raise InvalidInputError(problems)
