"""An MCP server with its authorization server behind the real gate, and an agent's owner who connects it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx

from emulator.clock import EmulatorClock
from emulator.internet import Internet
from emulator.internet.routes import read_route
from ferryman.domain.credentials import connection as rules
from ferryman.domain.credentials.connection import Connection, Proof
from ferryman.domain.credentials.credential import Credential, Secret
from ferryman.domain.remote_servers.authorization import TOKEN_NAME, PreparedConsent
from ferryman.domain.remote_servers.consenting import build_connection
from ferryman.domain.remote_servers.server import RemoteServer
from ferryman.egress.gate import EgressGate
from ferryman.egress.simulated import SimulatedInternet
from ferryman.egress.tls import create_context
from ferryman.inmemory.clock import ManualClock
from ferryman.inmemory.credentials import MCP_SERVERS, MemoryConnections, MemoryCredentials
from ferryman.inmemory.key_store import MemoryKeyStore
from ferryman.inmemory.log import RecordingLog
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.owners import MemoryHalts
from ferryman.inmemory.remote_servers import MemoryRemoteServers
from ferryman.inmemory.tokens import MemoryTokens
from ferryman.tools.execute_call import ToolDependencies
from ferryman.tools.mcp.authorization.preparing import ConsentRequest
from ferryman.tools.mcp.connecting import ServerConnecting
from ferryman.tools.mcp.credentials import open_server_credentials, renew_token
from ferryman.vault import seal
from ferryman.vault.vault import Vault
from tests.plain_gate import pass_unscanned, redact_plainly
from tests.remote_servers import build_server

HOST, LOGIN = "tools.example.com", "login.tools.test"
URL, ISSUER = f"https://{HOST}/mcp", f"https://{LOGIN}"
REDIRECT = "http://127.0.0.1:49999/callback/mcp"
METADATA = "/.well-known/oauth-protected-resource"
PRIVATE = {1: seal.generate_private_key()}


@dataclass
class ConnectHarness:
    """Everything around a server that is connected. Time passes only by `pass_time`."""

    internet: Internet
    cloud: EmulatorClock
    memory: Memory = field(default_factory=Memory)
    clock: ManualClock = field(default_factory=ManualClock)
    log: RecordingLog = field(default_factory=RecordingLog)

    def __post_init__(self) -> None:
        self.memory.mcp_servers["mcp_1"] = build_server()
        internet = SimulatedInternet(self.internet.table)
        table = internet.read_table()
        gate = EgressGate(
            names=internet, dial=internet, tls=create_context(table.ca, table.client), tracer=self.log, within_s=5.0
        )
        self.deps = ToolDependencies(
            tickets=None,  # type: ignore[arg-type] # no call is executed here
            credentials=MemoryCredentials(self.memory),
            connections=MemoryConnections(self.memory),
            server_credentials=MemoryCredentials(self.memory, MCP_SERVERS),
            server_connections=MemoryConnections(self.memory, MCP_SERVERS),
            tokens=MemoryTokens(self.memory),
            vault=Vault(MemoryKeyStore(PRIVATE)),
            gate=gate,
            prepare=None,  # type: ignore[arg-type]
            redact=redact_plainly,
            redact_blocks=pass_unscanned,
            integrations={},
            halts=MemoryHalts(self.memory),
            clock=self.clock,
            tracer=self.log,
        )
        self.connecting = ServerConnecting(deps=self.deps, servers=MemoryRemoteServers(self.memory), gate=gate)

    @property
    def server(self) -> RemoteServer:
        server: RemoteServer = self.memory.mcp_servers["mcp_1"]
        return server

    @property
    def counts(self) -> Mapping[str, int]:
        """How often the authorization server was asked for what."""
        login = self.internet.server(LOGIN)
        assert login is not None
        return dict(login.report()["counts"])  # type: ignore[call-overload]

    def change(self, **change: Any) -> None:
        """Change the server as somebody else would who writes its document."""
        self.memory.mcp_servers["mcp_1"] = replace(self.server, **change)

    def set_rules(self, **change: Any) -> None:
        """Change the rules of the authorization server."""
        login = self.internet.server(LOGIN)
        assert login is not None
        login.rules = replace(login.rules, **change)

    def pass_time(self, seconds: float) -> None:
        """Let time pass, here and at the servers."""
        self.clock.turn(seconds)
        self.cloud.advance(timedelta(seconds=seconds))

    def put(self, host: str, *routes: Mapping[str, Any], addresses: Sequence[str] = ()) -> None:
        """Let a host answer with routes alone."""
        self.internet.can(host, [read_route(route, "route") for route in routes], addresses=addresses)

    def put_server(self, resource: Any, **answer: Any) -> None:
        """Let the MCP server be one that wants a token and has `resource` as its metadata."""
        metadata = {"path": f"{METADATA}/mcp", **({"json": resource} if resource is not None else {}), **answer}
        self.put(HOST, {"method": "POST", "path": "/mcp", "status": 401, "body": ""}, metadata)

    async def discover(self, *, owner: str = "ann", **change: Any) -> PreparedConsent:
        request = ConsentRequest(**{"redirect_uri": REDIRECT, **change})
        return await self.connecting.discover("mcp_1", owner=owner, request=request)

    async def begin(self, **change: Any) -> tuple[Connection, str]:
        """Return a consent as the API stores it, and the address of its page."""
        prepared = await self.discover(**change)
        state, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        authorization = prepared.authorization
        begun = build_connection(self.server, authorization, redirect_uri=REDIRECT, state=state, now=self.clock.now())
        public = seal.PublicKey(1, seal.derive_public_key(PRIVATE[1]))
        proof = seal.encode_proof(Proof(verifier=Secret(verifier), client_secret=prepared.client_secret))
        sealed = replace(begun, ciphertext=public.seal(proof, seal.build_connection_info(begun)))
        await MemoryConnections(self.memory, MCP_SERVERS).put(sealed, now=self.clock.now(), most=rules.PER_TASK_MAX)
        return sealed, rules.build_authorize_url(authorization.build_oauth(), begun, state=state, verifier=verifier)

    async def consent(self, page: str) -> dict[str, str]:
        """Return what the page leads back with, for a person who allows it."""
        transport = httpx.ASGITransport(app=self.internet.server(LOGIN))  # type: ignore[arg-type]
        async with httpx.AsyncClient(transport=transport) as browser:
            answer = await browser.get(page)
        return {name: value for name, [value] in parse_qs(urlsplit(answer.headers["location"]).query).items()}

    async def finish(self, connection: Connection, answer: Mapping[str, str], **change: Any) -> str:
        request = {"owner": "ann", "digest": connection.digest, "code": answer["code"], "iss": answer.get("iss"), "version": 1}
        return await self.connecting.finish("mcp_1", **{**request, **change})

    async def connect(self, **change: Any) -> Credential:
        """Return the open token of a whole consent."""
        begun, page = await self.begin(**change)
        await self.finish(begun, await self.consent(page))
        return (await self.open())[TOKEN_NAME]

    async def open(self) -> dict[str, Credential]:
        """Return the credentials of the server as its calls have them, renewed where they are due."""
        assert self.deps.server_credentials is not None
        versions = await self.deps.server_credentials.read_versions("mcp_1")
        opened = await open_server_credentials(self.deps, self.server, versions)
        return await renew_token(self.deps, self.server, opened)
