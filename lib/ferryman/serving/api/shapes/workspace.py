"""A workspace: to be stored, to be changed, and as it is stored."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field, StrictInt, StrictStr

from ferryman.domain.credits.alert_message import AlertSecret
from ferryman.domain.workspaces.workspace import Workspace, WorkspaceState
from ferryman.serving.api.shapes.rule import ApprovalRuleResponse, Rules
from ferryman.serving.api.shapes.shape import Amount, Credits, ListPage, RequestShape, ResponseShape

ToolNames = Annotated[
    tuple[StrictStr, ...],
    Field(max_length=200, description="The tools that may be called in it; an empty list allows every tool"),
]


class NewWorkspace(RequestShape):
    """A workspace to be stored."""

    name: StrictStr
    allowed_tools: ToolNames = ()
    max_credits_month: Amount | None = Field(default=None, description="Credits in a month (UTC); null: only the plan's limit")
    conversation_credits_max: Amount | None = Field(
        default=None, description="Credits of each conversation in a month (UTC); null: no limit here"
    )
    alert_url: StrictStr | None = Field(default=None, description="An https URL that its alerts are sent to")
    retention_days: StrictInt | None = Field(
        default=None, description="Days that its executions are kept after their end; null: as the deployment keeps them"
    )
    approvals: Rules = ()


class WorkspaceChange(RequestShape):
    """What is to change in a workspace; a field that is left out stays as it is."""

    name: StrictStr = ""
    allowed_tools: ToolNames = ()
    max_credits_month: Amount | None = Field(default=None, description="Null: only the plan's limit")
    conversation_credits_max: Amount | None = Field(default=None, description="Null: no limit here")
    alert_url: StrictStr | None = None
    retention_days: StrictInt | None = None
    approvals: Rules = ()


class WorkspaceResponse(ResponseShape):
    """A workspace as it is stored."""

    workspace_id: str = Field(validation_alias="id")
    name: str
    state: WorkspaceState
    is_default: bool = Field(description="Whether it is the owner's default one, which is neither archived nor deleted")
    allowed_tools: tuple[str, ...]
    max_credits_month: Credits | None
    conversation_credits_max: Credits | None
    alert_url: str | None
    alert_secret: str | None = Field(
        default=None, description="What its alerts are signed with: told once, in the answer to the request that sets alert_url"
    )
    retention_days: int | None
    approvals: tuple[ApprovalRuleResponse, ...]
    created_at: datetime
    updated_at: datetime


def to_response(workspace: Workspace, secret: AlertSecret | None = None) -> WorkspaceResponse:
    """Return a workspace, with the secret that was just made for its alerts."""
    response = WorkspaceResponse.model_validate(workspace)
    return response if secret is None else response.model_copy(update={"alert_secret": secret.secret.reveal()})


class WorkspaceList(ListPage):
    """A page of workspaces, by id."""

    workspaces: tuple[WorkspaceResponse, ...]
