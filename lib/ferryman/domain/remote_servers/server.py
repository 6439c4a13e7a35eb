"""An MCP server of an agent, as it is stored: where it is, how requests to it are authenticated, and the pins of its tools."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from ferryman.domain.receipts.receipt import canonicalize
from ferryman.domain.remote_servers.authorization import ServerAuthorization
from ferryman.domain.remote_servers.pin import PinState, ToolPin

SERVERS_PER_AGENT_MAX = 20
HEADERS_MAX = 10
URL_CHARACTERS_MAX = 2_048
INSTRUCTIONS_CHARACTERS_MAX = 4_000
DETAIL_CHARACTERS_MAX = 400
LISTED_FIELDS = ("pins", "info", "instructions", "revision", "state", "detail", "listed_at", "verified_at")
"""The fields that a listing changes."""


class ServerAuth(StrEnum):
    """How requests to an MCP server are authenticated."""

    NONE = "none"
    HEADERS = "headers"
    """By headers, each with the value of one of the server's credentials."""
    BEARER = "bearer"
    """By a token in the header Authorization, which is one of its headers."""
    OAUTH = "oauth"
    """By an access token that a person's consent has given (MCP authorization)."""


class ServerState(StrEnum):
    """What the last attempt to list the tools of a server has come to."""

    NEW = "new"
    """There was none yet."""
    LISTED = "listed"
    NEEDS_AUTHORIZATION = "needs_authorization"
    UNREACHABLE = "unreachable"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerInfo:
    """What a server calls itself: texts of a stranger, for people alone."""

    name: str = ""
    title: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteServer:
    """An MCP server of an agent.

    `headers` are the names of credentials of the server by the header that has their value. `info` and `instructions` are what
    the server wrote of itself: no model reads them. `revision` is the protocol revision that was agreed on last.
    `authorization` is what a consent was given for. `generation` rises with every change. `state` and `detail` say how the last
    listing ended, `listed_at` when the tools were listed last, and `verified_at` when they were last found to be as pinned.
    """

    id: str
    owner: str
    workspace: str
    agent: str
    name: str
    url: str
    auth: ServerAuth = ServerAuth.NONE
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    enabled: bool = True
    info: ServerInfo | None = field(default=None, repr=False)
    instructions: str = field(default="", repr=False)
    revision: str | None = None
    authorization: ServerAuthorization | None = field(default=None, repr=False)
    pins: tuple[ToolPin, ...] = field(default=(), repr=False)
    generation: int = 1
    state: ServerState = ServerState.NEW
    detail: str = ""
    listed_at: datetime | None = None
    verified_at: datetime | None = None
    created_at: datetime
    updated_at: datetime

    @property
    def place(self) -> tuple[str, str, str]:
        """Its owner, workspace and agent."""
        return self.owner, self.workspace, self.agent

    def find_pin(self, name: str) -> ToolPin | None:
        """Return the pin of the tool that a model knows by this name."""
        return next((pin for pin in self.pins if pin.name == name), None)

    def list_accepted(self) -> tuple[ToolPin, ...]:
        """Return the pins of the tools that a person has accepted as they are now; none of a server that is not enabled."""
        return tuple(pin for pin in self.pins if pin.state is PinState.ACCEPTED) if self.enabled else ()

    def fingerprint_of(self, pin: ToolPin) -> str:
        """Return 16 hexadecimal digits of a digest of all that a call of the tool depends on.

        It is another one once another descriptor is accepted, or the server has another URL or another authentication.
        """
        oauth = [] if self.authorization is None else [self.authorization.issuer, self.authorization.resource]
        content = [self.id, self.url, self.auth.value, sorted(self.headers.items()), oauth, pin.tool, pin.digest]
        return hashlib.sha256(canonicalize(content)).hexdigest()[:16]


def fingerprint_tools(server: RemoteServer) -> dict[str, str]:
    """Return the fingerprints of the tools of `server` that an execution may call, by the names that its model knows."""
    return {pin.name: server.fingerprint_of(pin) for pin in server.list_accepted()}
