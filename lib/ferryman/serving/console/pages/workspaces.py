"""Workspaces: choose the one that the session acts in; create, change, archive and delete one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from urllib.parse import quote

from starlette.exceptions import HTTPException

from ferryman.composition.api import ApiDependencies
from ferryman.domain.approvals.rules import RULES_MAX
from ferryman.domain.approvals.visible import show_text
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.domain.workspaces.rules import RETENTION_DAYS_MAX
from ferryman.domain.workspaces.workspace import NAME_CHARACTERS_MAX, WorkspaceGoneError
from ferryman.serving.console.api_client import ApiClient, ApiProblemError
from ferryman.serving.console.form_fields import (
    FormField,
    find_changes,
    list_problems,
    read_body,
    repeat_values,
    require_consent,
    write_values,
)
from ferryman.serving.console.routing import ROOT, ConsolePage, ConsoleRequest, ConsoleRoute, Redirect, check_next

PATH = f"{ROOT}/workspaces"

NAME_FIELD = FormField(name="name", label="Name", is_required=True, help=f"At most {NAME_CHARACTERS_MAX} characters")
NEW_FIELDS = (NAME_FIELD,)
FIELDS = (
    NAME_FIELD,
    FormField(
        name="max_credits_month",
        label="Monthly credit limit",
        kind="number",
        help="Empty: only the limit of the plan",
        when_empty="null",
    ),
    FormField(
        name="conversation_credits_max",
        label="Monthly credit limit per conversation",
        kind="number",
        help="Empty: no limit of the workspace",
        when_empty="null",
    ),
    FormField(
        name="alert_url",
        label="Alert URL",
        help="https; called when 50, 80 and 100 percent of a limit are used. Empty: no alerts",
        when_empty="null",
    ),
    FormField(
        name="retention_days",
        label="Retention of executions (days)",
        kind="number",
        help=f"1 to {RETENTION_DAYS_MAX:,}. Empty: as the deployment is set",
        when_empty="null",
    ),
    FormField(name="allowed_tools", label="Allowed tools", kind="lines", help="One name per line; empty: all"),
    FormField(
        name="approvals", label="Approval rules", kind="json", help=f"A list of at most {RULES_MAX} rules, as in the API"
    ),
)


async def show_workspaces(request: ConsoleRequest) -> ConsolePage:
    """Show the workspaces that the session may act in."""
    return await _show_list(request)


async def choose_workspace(request: ConsoleRequest) -> Redirect:
    """Switch the session to another workspace, and show the requested page there."""
    deps: ApiDependencies = request.request.app.state.deps
    owner, chosen = request.session.owner, request.read_field("id")
    if request.session.key_workspace:
        raise HTTPException(403, "your API key is for one workspace: only the owner's own key acts in others")
    try:
        # the default one by no name: what is stored for it is stored so everywhere
        name = "" if chosen == derive_default_workspace(owner) else chosen
        await deps.console_sessions.choose_workspace(request.session.id, name, owner=owner)
    except WorkspaceGoneError:
        raise HTTPException(404, "there is no such workspace") from None
    return Redirect(path=check_next(request.read_field("next")), done="workspace")


async def create_workspace(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Create a workspace with this name."""
    body = read_body(NEW_FIELDS, request.form)
    try:
        created = await _ask_anywhere(request).post("/v1/workspaces", body, once=request.read_field("once"))
    except ApiProblemError as error:
        return await _show_list(request, error)
    return Redirect(path=f"{PATH}/{created['workspace_id']}", done="created")


async def show_workspace(request: ConsoleRequest) -> ConsolePage:
    """Show the settings of a workspace."""
    return await _show(request)


async def change_workspace(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Store the settings that differ from what is stored. The secret of alerts is shown once, where it is new."""
    api, name = _ask_anywhere(request), request.params["workspace"]
    stored = await api.get(f"/v1/workspaces/{name}")
    try:
        changes = find_changes(read_body(FIELDS, request.form), stored)
        changed = await api.patch(f"/v1/workspaces/{name}", changes) if changes else stored
    except ApiProblemError as error:
        return await _show(request, error)
    if changed["alert_secret"] is not None:
        return await _show(request, secret=changed["alert_secret"])
    return Redirect(path=request.path, done="saved")


async def archive_workspace(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Let nothing in the workspace be started or changed until it is restored."""
    require_consent(request.form)
    return await _post(request, "archive")


async def restore_workspace(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Make the workspace active again."""
    return await _post(request, "restore")


async def delete_workspace(request: ConsoleRequest) -> ConsolePage | Redirect:
    """Delete the workspace with everything in it, where the box of the form was ticked."""
    require_consent(request.form)
    try:
        job = await _ask_anywhere(request).delete(f"/v1/workspaces/{request.params['workspace']}")
    except ApiProblemError as error:
        return await _show(request, error)
    return Redirect(path=f"{ROOT}/jobs/{job['job_id']}", done="deleting")


def _ask_anywhere(request: ConsoleRequest) -> ApiClient:
    """Return a client that asks where the API key is at home: also while the session acts in a workspace that is gone."""
    home = replace(request.session, workspace=request.session.key_workspace)
    return replace(request.api, session=home)


async def _post(request: ConsoleRequest, what: str) -> ConsolePage | Redirect:
    try:
        await _ask_anywhere(request).post(f"/v1/workspaces/{request.params['workspace']}/{what}")
    except ApiProblemError as error:
        return await _show(request, error)
    return Redirect(path=request.path, done="saved")


async def _show_list(request: ConsoleRequest, refused: ApiProblemError | None = None) -> ConsolePage:
    listed = await _ask_anywhere(request).get("/v1/workspaces", cursor=request.query.get("cursor"))
    values: dict[str, Any] = {
        "listed": listed,
        "current": request.session.current_workspace,
        "is_owner": not request.session.key_workspace,
        "errors": list_problems(refused),
        "fields": NEW_FIELDS,
        "typed": repeat_values(NEW_FIELDS, request.form),
    }
    status = 200 if refused is None else refused.status
    return ConsolePage(template="workspaces.html", title="Workspaces", values=values, status=status)


async def _show(request: ConsoleRequest, refused: ApiProblemError | None = None, secret: str = "") -> ConsolePage:
    if refused is not None and refused.status in (401, 404):
        raise refused
    workspace = await _ask_anywhere(request).get(f"/v1/workspaces/{quote(request.params['workspace'])}")
    values = {
        "workspace": workspace,
        "current": request.session.current_workspace,
        "is_owner": not request.session.key_workspace,
        "fields": FIELDS,
        "values": write_values(FIELDS, workspace) if refused is None else repeat_values(FIELDS, request.form),
        "errors": list_problems(refused),
        "secret": secret,
        "here": f"{PATH}/{workspace['workspace_id']}",
    }
    status = 200 if refused is None else refused.status
    return ConsolePage(template="workspace.html", title=show_text(workspace["name"]), values=values, status=status)


ROUTES = (
    ConsoleRoute(
        path=PATH, show=show_workspaces, section="system", actions={"choose": choose_workspace, "create": create_workspace}
    ),
    ConsoleRoute(
        path=f"{PATH}/{{workspace}}",
        show=show_workspace,
        section="system",
        actions={
            "change": change_workspace,
            "archive": archive_workspace,
            "restore": restore_workspace,
            "delete": delete_workspace,
        },
    ),
)
