"""People: members, invitations, API keys, and who changed what."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field, SecretStr, StrictBool, StrictInt, StrictStr

from ferryman.domain.workspaces.api_key import KEY_DAYS_MAX
from ferryman.domain.workspaces.member import Right, Role
from ferryman.domain.workspaces.tool_scopes import TOOL_SCOPES_MAX
from ferryman.serving.api.shapes.shape import Amount, Credits, ListPage, RequestShape, ResponseShape

Approves = Annotated[StrictBool, Field(description="Whether they may decide about calls that wait for a person: no role may")]


class MemberChange(RequestShape):
    """What is to change of a member; a field that is left out stays as it is. Nobody gives rights that they do not have."""

    role: Role = Role.VIEWER
    approves: Approves = False
    max_credits_month: Amount | None = Field(default=None, description="Credits in a month (UTC); null: no limit of their own")


class MemberResponse(ResponseShape):
    """A person in the workspace."""

    person_id: str
    name: str
    role: Role
    approves: Approves
    max_credits_month: Credits | None
    created_at: datetime


class MemberList(ListPage):
    """A page of members, by id."""

    members: tuple[MemberResponse, ...]


class NewInvitation(RequestShape):
    """Who is to be invited, and as what."""

    name: StrictStr = Field(description="What they are called; it is deleted with their last membership")
    role: Role
    approves: Approves = False


class InvitationResponse(ResponseShape):
    """An invitation that nobody has taken yet."""

    invitation_id: str = Field(validation_alias="id")
    name: str
    role: Role
    approves: Approves
    invited_by: str = Field(description="The id of a person; empty: the owner")
    created_at: datetime
    expires_at: datetime


class NewInvitationResponse(InvitationResponse):
    """An invitation that was just made."""

    token: str | None = Field(description="Shown this once, for who is invited; null where the request is a retry")


class InvitationList(ListPage):
    """A page of invitations, by id."""

    invitations: tuple[InvitationResponse, ...]


class TakenInvitation(RequestShape):
    """An invitation that is taken: its token, and a secret of who takes it."""

    token: SecretStr
    secret: SecretStr | None = Field(
        default=None,
        description="32 random bytes of your own in base64url (43 characters), which you keep until the answer has come: "
        "the same request is answered with the same API key again. Null: an answer that is lost is lost",
    )


class JoinedResponse(ResponseShape):
    """A membership that was just made, with its first API key."""

    person_id: str
    workspace_id: str
    role: Role
    approves: Approves
    key_id: str
    key: str = Field(description="The API key, shown this once, and again to the same token with the same secret")


class NewKey(RequestShape):
    """An API key to be made. It never has more than the one that asks for it."""

    name: StrictStr = Field(description="What it is for")
    scopes: Annotated[tuple[Right, ...], Field(max_length=len(Right))] | None = Field(
        default=None, description="What it may do; null: what the API key that asks may do"
    )
    tools: Annotated[tuple[StrictStr, ...], Field(max_length=TOOL_SCOPES_MAX)] | None = Field(
        default=None,
        description="The tools that it lists and calls at `/mcp`, by name or as `category:search`; elsewhere such a key only "
        "reads, and its scopes are read and run at most. Null: it is not narrowed",
    )
    expires_in_days: Annotated[StrictInt, Field(ge=1, le=KEY_DAYS_MAX)] | None = Field(
        default=None, description="After how many days it ends; null: with the API key that asks, if that has an end"
    )


class KeyResponse(ResponseShape):
    """An API key, without the key itself."""

    key_id: str = Field(validation_alias="id")
    person_id: str = Field(validation_alias="person", description="Whose it is; empty: the owner's")
    name: str
    scopes: tuple[Right, ...]
    tools: tuple[str, ...] | None = Field(description="The tools that it is narrowed to; null: it is not")
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None = Field(description="To the minute")


class NewKeyResponse(KeyResponse):
    """An API key that was just made."""

    key: str | None = Field(description="Shown this once; null where the request is a retry")


class KeyList(ListPage):
    """A page of API keys, by id."""

    keys: tuple[KeyResponse, ...]


class AuditEntryResponse(ResponseShape):
    """A change in the workspace: who made it, and of what. It holds ids and names, and nothing of what was changed."""

    entry_id: str = Field(validation_alias="id")
    person_id: str = Field(validation_alias="person", description="Who made it; empty: the owner")
    key_id: str = Field(validation_alias="key", description="With which API key; empty: the owner's own")
    action: str = Field(description="The operationId of the request")
    targets: tuple[str, ...] = Field(description="What was changed, from the outermost to the innermost")
    done: bool = Field(description="False: an instance died meanwhile, and nobody knows")
    created_at: datetime


class AuditEntryList(ListPage):
    """A page of changes, newest first."""

    entries: tuple[AuditEntryResponse, ...]
