"""Links to a resource of another workspace of the owner: the page names that workspace, with a button that switches to it."""

from __future__ import annotations

from dataclasses import replace

from ferryman.serving.console.api_client import ApiClient, ApiProblemError
from ferryman.serving.console.routing import ROOT, ConsolePage, ConsoleRequest

NOUNS = ("agents", "approvals", "conversations", "executions", "tasks")
"""What has a page below `/console/NOUN/ID`, and is asked for at `/v1/NOUN/ID`."""

WORKSPACES_MAX = 20
"""How many workspaces are asked at most."""


async def name_workspace(api: ApiClient) -> str:
    """Return the name of the workspace in which a session of the owner's own key acts, "" for the default one.

    One that is gone has its id: pages say of it that it is not there.
    """
    session = api.session
    if not session.workspace or session.key_workspace:
        return ""
    try:
        workspace = await api.get(f"/v1/workspaces/{session.workspace}")
    except ApiProblemError:
        return session.workspace
    return str(workspace["name"])


async def find_elsewhere(request: ConsoleRequest) -> ConsolePage | None:
    """Return the page that names the workspace of the requested resource; None where the reader can see it in none."""
    parts = request.path.removeprefix(f"{ROOT}/").split("/")
    if request.request.method != "GET" or request.is_partial or request.session.key_workspace:
        return None
    if len(parts) < 2 or parts[0] not in NOUNS:
        return None
    home = replace(request.session, workspace="")
    listed = await replace(request.api, session=home).get("/v1/workspaces", limit=WORKSPACES_MAX)
    for workspace in listed["workspaces"]:
        name = workspace["workspace_id"]
        if name == request.session.current_workspace:
            continue
        there = replace(request.api, session=replace(request.session, workspace=name))
        try:
            await there.get(f"/v1/{parts[0]}/{parts[1]}")
        except ApiProblemError:
            continue
        values = {"workspace": workspace, "noun": parts[0][:-1]}
        return ConsolePage(template="elsewhere.html", title="In another workspace", values=values, status=404)
    return None
