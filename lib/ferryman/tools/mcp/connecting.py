"""Connecting an MCP server: what its owner is asked to consent to, and the token that the consent is exchanged for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.connection import NotConnectedError
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.http.request import Method, OutboundRequest
from ferryman.domain.http.url import parse_url
from ferryman.domain.mcp_revisions import (
    CLIENT_CAPABILITIES,
    CLIENT_INFO,
    METHOD_HEADER,
    MODERN,
    PROTOCOL_VERSION,
    VERSION_HEADER,
)
from ferryman.domain.owners.plan import PRO
from ferryman.domain.remote_servers.authorization import SERVER_CREDENTIALS_MAX, PreparedConsent, read_authorization
from ferryman.domain.remote_servers.client_document import CLIENT_NAME
from ferryman.domain.remote_servers.server import RemoteServer, ServerAuth
from ferryman.domain.stale import StaleError
from ferryman.ports.errors import UnavailableError
from ferryman.ports.gate import CallPolicy, StreamGate
from ferryman.ports.remote_servers import RemoteServers
from ferryman.tools.execute_call import ToolDependencies
from ferryman.tools.mcp.authorization.challenge import Challenge, read_challenge
from ferryman.tools.mcp.authorization.failure import AuthorizationFailedError
from ferryman.tools.mcp.authorization.fetching import TOOL, WITHIN_S, GateFetcher
from ferryman.tools.mcp.authorization.preparing import ConsentRequest, prepare_consent
from ferryman.tools.mcp.credentials import build_grant_dependencies
from ferryman.tools.tokens.consent import redeem, take_connection

ATTEMPTS = 3
"""How often a server is tried to be changed, while others change it."""

UNAUTHORIZED = 401


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerConnecting:
    """What connecting needs: the servers, the gate, and what redeems a grant."""

    deps: ToolDependencies
    servers: RemoteServers
    gate: StreamGate

    async def discover(self, server: str, *, owner: str, request: ConsentRequest) -> PreparedConsent:
        """Return what `owner` is asked to consent to. Raise `NotConnectedError`, and `UnavailableError`."""
        known = await self._find(server, owner)
        try:
            challenge = await self._ask_for_challenge(known)
            fetcher = GateFetcher(self.gate, owner)
            return await prepare_consent(fetcher, known.url, challenge, request, before=known.authorization)
        except AuthorizationFailedError as failure:
            self.deps.tracer.line("server.not_discovered", server=server, severity="WARNING")
            raise NotConnectedError(str(failure)) from None

    async def finish(self, server: str, *, owner: str, digest: str, code: str, iss: str | None, version: int) -> str:
        """Exchange `code` for the token of the server, and pin what it was issued by; return the credential's name.

        Raise `NotConnectedError`, and `UnavailableError`.
        """
        known = await self._find(server, owner)
        deps = self.deps
        assert deps.server_connections is not None, "a function that calls MCP servers has their consents"
        connection = await take_connection(
            deps.server_connections, task=server, owner=owner, digest=digest, code=code, now=deps.clock.now()
        )
        authorization = read_authorization(connection)
        if authorization is None or connection.label.hosts != (parse_url(known.url).host,):
            raise NotConnectedError("the connection is not of this server; connect again")
        credential = await redeem(
            build_grant_dependencies(deps, server, authorization),
            connection,
            code=code,
            iss=iss,
            version=version,
            most=SERVER_CREDENTIALS_MAX,
            holder="an MCP server",
        )
        for _ in range(ATTEMPTS):
            try:
                await self.servers.update(
                    replace(known, authorization=authorization, updated_at=deps.clock.now()),
                    ("authorization",),
                    since=known.generation,
                )
                return credential.name
            except StaleError:
                known = await self._find(server, owner)
        raise UnavailableError("the server is changed all the time; connect again")

    async def _find(self, server: str, owner: str) -> RemoteServer:
        """Return the server of `owner`, which is authorized by OAuth. Raise `NotConnectedError`."""
        known = await self.servers.get(server)
        if known is None or known.owner != owner:
            raise NotConnectedError("there is no such server")
        if known.auth is not ServerAuth.OAUTH:
            raise NotConnectedError("the server was not added as one that is authorized by OAuth")
        return known

    async def _ask_for_challenge(self, server: RemoteServer) -> Challenge:
        """Return what the server answers to a request without a token. Raise `AuthorizationFailedError`."""
        meta = {
            PROTOCOL_VERSION: MODERN,
            CLIENT_INFO: {"name": CLIENT_NAME, "version": "1"},
            CLIENT_CAPABILITIES: {},
        }
        outbound = OutboundRequest(
            tool=TOOL,
            method=Method.POST,
            url=server.url,
            fixed_headers={
                "Accept": "application/json, text/event-stream",
                VERSION_HEADER: MODERN,
                METHOD_HEADER: "tools/list",
            },
            body={"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}},
        )
        host = parse_url(server.url).host
        policy = ExecutionPolicy(owner=server.owner, task="", plan=PRO, tools=(), integrations=(), domains=(host,))
        reader = _HeadReader()
        try:
            await self.gate.stream(outbound, CallPolicy(execution=policy, credentials={}, within_s=WITHIN_S), reader)
        except CallRefusedError as refused:
            reason = refused.refusal.message.removeprefix("Error: ")
            raise AuthorizationFailedError(f"the server cannot be asked: {reason}") from None
        named = [value for name, value in reader.headers if name.lower() == "www-authenticate"]
        return read_challenge(named if reader.status == UNAUTHORIZED else ())


@dataclass(slots=True)
class _HeadReader:
    """Reads the head of a response, and nothing of its body."""

    status: int = 0
    headers: Sequence[tuple[str, str]] = field(default_factory=tuple, repr=False)

    async def begin(self, status: int, headers: Sequence[tuple[str, str]]) -> bool:
        self.status, self.headers = status, tuple(headers)
        return False

    async def feed(self, content: bytes) -> bool:  # noqa: ARG002 - the port's own signature
        return False
