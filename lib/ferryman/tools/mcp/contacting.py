"""Contacting an MCP server: its client over the gate, with the server's credentials and for its own URL alone."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace

from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.credential import Credential
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.http.url import parse_url
from ferryman.domain.owners.plan import PRO
from ferryman.domain.remote_servers.server import RemoteServer, ServerInfo
from ferryman.expiring import ExpiringCache
from ferryman.ports.gate import CallPolicy, StreamGate
from ferryman.ports.remote_servers import RemoteServers
from ferryman.tools.execute_call import ToolDependencies
from ferryman.tools.mcp.credentials import list_placed, open_server_credentials, place_credentials, renew_token
from ferryman.tools.mcp.gate_transport import GateTransport
from ferryman.tools.mcp.listing import ServerListing
from ferryman.tools.mcp.protocol.answer_reader import OnProgress
from ferryman.tools.mcp.protocol.client import McpClient
from ferryman.tools.mcp.protocol.eras import ClientCapabilities
from ferryman.tools.mcp.protocol.errors import HttpStatusError, McpClientError
from ferryman.tools.mcp.protocol.sessions import SessionCache
from ferryman.tools.mcp.telling import remove_credentials
from ferryman.tools.tokens.single_flight import SingleFlight

DESCRIPTORS_MAX, DESCRIPTORS_S = 512, 3_600.0
"""How many accepted descriptors stay in memory, and for how long: what is stored under a digest never changes."""

CAPABILITIES = ClientCapabilities(form=True, url=True, tasks=True)


class UnauthorizedServerError(Exception):
    """The server wants another credential than it was sent, or one that is not there. The text is ours."""


class UnreachableServerError(Exception):
    """The server cannot be reached, or answers with something else than a listing. The text is ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteCallDependencies:
    """What calling MCP servers needs beyond the dependencies of every tool function. `gate` is that of `tools`, with streams.

    `sessions`, `descriptors` (the accepted and the model's, by server and digest) and `listings` under way are this process's;
    `sleep` waits for some seconds.
    """

    tools: ToolDependencies
    servers: RemoteServers
    gate: StreamGate
    sessions: SessionCache = field(default_factory=SessionCache)
    descriptors: ExpiringCache[tuple[str, str], tuple[str, str]] = field(
        default_factory=lambda: ExpiringCache(most=DESCRIPTORS_MAX, life_s=DESCRIPTORS_S), repr=False
    )
    listings: SingleFlight[RemoteServer] = field(default_factory=SingleFlight, repr=False)
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerContact:
    """A server with its open credentials, as a client may use them: `others` are scanned for, and sent nowhere."""

    server: RemoteServer
    credentials: Mapping[str, Credential] = field(repr=False)
    others: Mapping[str, Credential] = field(default_factory=dict, repr=False)

    @property
    def credential_used(self) -> str | None:
        """The name of the credential that authenticates a call, the first of several; None where the server has none."""
        is_sent = {name for name, item in self.credentials.items() if item.label.hosts}
        return next((name for name in list_placed(self.server) if name in is_sent), None)

    def build_policy(self, call: CallPolicy) -> CallPolicy:
        """Return `call` with the server's URL, and with these credentials."""
        execution = replace(call.execution, server_urls=(self.server.url,))
        return replace(call, execution=execution, credentials={**self.others, **self.credentials})

    def build_client(
        self,
        deps: RemoteCallDependencies,
        call: CallPolicy,
        *,
        tool: str,
        capabilities: ClientCapabilities = CAPABILITIES,
        on_progress: OnProgress | None = None,
    ) -> McpClient:
        """Return a client of the server, whose requests are those of a call of `tool` with this policy.

        Questions to a person are offered in 2026-07-28 alone: in 2025-11-25 a call would have to be held open until somebody
        has answered.
        """
        transport = GateTransport(
            gate=deps.gate,
            url=self.server.url,
            tool=tool,
            headers=place_credentials(self.server),
            call=self.build_policy(call),
        )
        return McpClient(
            transport,
            owner=self.server.owner,
            revision=self.server.revision,
            sessions=deps.sessions,
            session_key=self._name_session(),
            capabilities=capabilities,
            on_progress=on_progress,
        )

    def _name_session(self) -> str:
        """Return the key of the server's sessions: another one with other credentials, or for another URL."""
        versions = sorted((name, item.label.version) for name, item in self.credentials.items() if item.label.hosts)
        return hashlib.sha256(json.dumps([self.server.id, self.server.url, versions]).encode()).hexdigest()


async def open_contact(deps: RemoteCallDependencies, server: RemoteServer) -> ServerContact:
    """Return the server with its credentials, renewed where they are about to expire.

    Raise `CallRefusedError` where one does not open, or a person has to connect the server again, and `UnavailableError`.
    """
    assert deps.tools.server_credentials is not None, "a function that calls MCP servers has their credentials"
    versions = await deps.tools.server_credentials.read_versions(server.id)
    opened = await open_server_credentials(deps.tools, server, versions)
    return ServerContact(server=server, credentials=await renew_token(deps.tools, server, opened))


async def list_tools(deps: RemoteCallDependencies, server: RemoteServer) -> ServerListing:
    """Return what the server lists now, in nobody's execution.

    Raise `UnauthorizedServerError`, `UnreachableServerError`, and `UnavailableError`.
    """
    policy = ExecutionPolicy(owner=server.owner, task="", plan=PRO, tools=(), integrations=(), domains=())
    call = CallPolicy(execution=policy, credentials={}, about={"server": server.id})
    try:
        contact = await open_contact(deps, server)
    except CallRefusedError as refused:
        raise UnauthorizedServerError(_describe(refused)) from None
    return await list_with(deps, contact, call)


async def list_with(deps: RemoteCallDependencies, contact: ServerContact, call: CallPolicy) -> ServerListing:
    """Return what the server lists now, by the credentials of `contact`. Raise as `list_tools` does."""
    client = contact.build_client(deps, call, tool=f"{contact.server.name}__list", capabilities=ClientCapabilities())
    try:
        listing = await client.list_tools()
    except HttpStatusError as error:
        if error.status in (401, 403):
            raise UnauthorizedServerError(f"the server answers {error.status}: it wants to know who asks") from None
        raise UnreachableServerError(str(error)) from None
    except McpClientError as error:
        raise UnreachableServerError(str(error)) from None
    except CallRefusedError as refused:
        raise UnreachableServerError(_describe(refused)) from None
    info = client.server_info
    listed = ServerListing(
        tools=[(tool.name, tool.raw) for tool in listing.tools],
        refused=[(tool.name, tool.reason) for tool in listing.refused],
        info=ServerInfo(name=info.name, title=info.title, version=info.version),
        instructions=client.instructions,
        revision=client.revision,
    )
    everything = [*contact.credentials.values(), *contact.others.values()]
    try:
        return await remove_credentials(deps.tools.redact, contact.server.owner, everything, listed)
    except CallRefusedError as refused:
        raise UnreachableServerError(_describe(refused)) from None


def get_host(server: RemoteServer) -> str:
    """Return the host of the server's URL."""
    return parse_url(server.url).host


def _describe(refused: CallRefusedError) -> str:
    return refused.refusal.message.removeprefix("Error: ")
