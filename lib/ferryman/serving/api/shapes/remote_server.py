"""MCP servers of an agent: as they are added, shown and changed, and their tools as a person accepts them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field, SecretStr, StrictBool, StrictStr

from ferryman.domain.remote_servers.pin import PinState
from ferryman.domain.remote_servers.server import HEADERS_MAX, URL_CHARACTERS_MAX, ServerAuth, ServerState
from ferryman.serving.api.shapes.shape import ListPage, RequestShape, ResponseShape

Headers = dict[StrictStr, SecretStr]


class NewServerAuth(RequestShape):
    """How requests to a server are authenticated beside its `headers`."""

    type: ServerAuth = Field(
        description="none; headers: with `headers` alone; bearer: with `token`; oauth: a person connects the server"
    )
    token: SecretStr | None = Field(default=None, description="Of type bearer. Sealed at once; no route returns it")


class NewRemoteServer(RequestShape):
    """An MCP server to be added to an agent."""

    name: StrictStr = Field(description="What its tools' names begin with: lower-case letters, digits, single '_' and '-'")
    url: StrictStr = Field(max_length=URL_CHARACTERS_MAX, description="Its endpoint, https")
    auth: NewServerAuth | None = Field(default=None, description="Without it: headers where there are any, else none")
    headers: Headers = Field(
        default_factory=dict,
        max_length=HEADERS_MAX,
        description="Values of headers by name, sent with every request to it. Sealed at once; no route returns them",
    )
    credentials: dict[StrictStr, StrictStr] = Field(
        default_factory=dict,
        max_length=HEADERS_MAX,
        description="The names that the credentials of `headers` are stored under, by header; derived from it by default",
    )


class RemoteServerChange(RequestShape):
    """Fields of a server to be changed. One that is left out stays as it is."""

    enabled: StrictBool = Field(default=True, description="false: none of its tools is offered or called")
    url: StrictStr = Field(
        default="", max_length=URL_CHARACTERS_MAX, description="Another endpoint: all of its tools have to be accepted again"
    )
    headers: Headers = Field(
        default_factory=dict, max_length=HEADERS_MAX, description="All of them from now on, each with a new value"
    )
    disable: tuple[StrictStr, ...] = Field(
        default=(), max_length=256, description="Tools to be disabled, by the server's names, until they are accepted again"
    )


class RemoteServerResponse(ResponseShape):
    """An MCP server of an agent. `title`, `version` and `instructions` are the server's words, which no model reads."""

    server_id: str
    agent_id: str
    name: str = Field(description="Its tools are `NAME__TOOL`")
    url: str
    auth: ServerAuth
    headers: dict[str, str] = Field(description="The names of the credentials whose values are sent, by header")
    enabled: bool
    state: ServerState = Field(description="How the last attempt to list its tools ended")
    detail: str = Field(description="Why that failed, and what to do; empty where it did not")
    title: str
    version: str
    instructions: str
    revision: str | None = Field(description="The protocol revision that was agreed on last")
    issuer: str | None = Field(description="The authorization server that a person connected it with")
    tools: dict[PinState, int] = Field(description="How many tools are in each state")
    listed_at: datetime | None
    verified_at: datetime | None = Field(description="When its tools were compared last with what was accepted")
    created_at: datetime
    updated_at: datetime


class RemoteServerList(ListPage):
    """A page of an agent's MCP servers, by name."""

    servers: tuple[RemoteServerResponse, ...]


class RemoteToolConfig(ResponseShape):
    """Which tool of which server it is (S3-44)."""

    server_id: str
    tool_name: str = Field(description="The server's name of it")


class FieldDifferenceResponse(ResponseShape):
    """A field of a descriptor that differs from the accepted one; null: it was or is not there. Hidden characters are shown."""

    field: str
    before: str | None
    after: str | None


class RemoteToolResponse(ResponseShape):
    """A tool of an MCP server, as a person reads it before accepting it. All texts in it are the server's."""

    type: Literal["mcp"] = "mcp"
    config: RemoteToolConfig
    name: str = Field(description="The name that models know it by")
    state: PinState = Field(description="Only accepted tools are offered to models, and called")
    reason: str | None = Field(description="Why it is refused")
    digest: str | None = Field(description="Of the descriptor that is listed: what `accept` names")
    accepted_digest: str | None = Field(description="Of the descriptor that was accepted")
    accepted_at: datetime | None
    title: str
    description: str
    input_schema: dict[str, Any]
    annotations: dict[str, Any] = Field(description="The server's hints, which decide nothing")
    model_description: str = Field(description="What a model reads in the place of the description")
    tokens: int = Field(description="About what its definition costs in every prompt")
    difference: tuple[FieldDifferenceResponse, ...] = Field(description="Of one that has changed, field by field")


class RemoteToolList(ListPage):
    """A page of a server's tools, by the server's names of them."""

    data: tuple[RemoteToolResponse, ...]


class Acceptance(RequestShape):
    """The tools that a person has read and accepts."""

    digests: dict[StrictStr, StrictStr] = Field(
        min_length=1,
        max_length=256,
        description="Digests of the descriptors that were read, by the server's names of the tools",
    )
