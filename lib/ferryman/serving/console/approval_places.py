"""Where an approval is: a link to it opens in whichever workspace it is, for who may act there.

An owner's session acts in one of their workspaces at a time, and a notice is about any of them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ferryman.serving.console.api_client import ApiClient, ApiProblemError
from ferryman.serving.console.routing import ConsoleRequest

WORKSPACES_MAX = 50
"""In how many other workspaces an approval is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalPlace:
    """An `approval` of the API, and the API as it is asked in that workspace.

    `elsewhere` is the name of that workspace, "" where it is the one of the session.
    """

    approval: Mapping[str, Any] = field(repr=False)
    api: ApiClient = field(repr=False)
    elsewhere: str = ""


async def find_approval(request: ConsoleRequest) -> ApprovalPlace:
    """Return the approval that the address names. Raise `ApiProblemError` where no workspace of the session's key has it."""
    path = f"/v1/approvals/{request.params['approval_id']}"
    try:
        return ApprovalPlace(approval=await request.api.get(path), api=request.api)
    except ApiProblemError as error:
        if error.status != 404:
            raise
        async for workspace in list_other_workspaces(request):
            api = replace(request.api, workspace=workspace["workspace_id"])
            try:
                return ApprovalPlace(approval=await api.get(path), api=api, elsewhere=workspace["name"])
            except ApiProblemError as problem:
                if problem.status != 404:
                    raise
        raise


async def list_other_workspaces(request: ConsoleRequest) -> AsyncIterator[Mapping[str, Any]]:
    """Yield the workspaces of the API in which the session's key may act, but for that of the session."""
    if request.session.key_workspace:
        return  # a key for one workspace acts nowhere else
    listed = await request.api.get("/v1/workspaces", limit=WORKSPACES_MAX + 1)
    for workspace in listed["workspaces"]:
        if workspace["workspace_id"] != request.session.current_workspace:
            yield workspace
