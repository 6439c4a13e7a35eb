"""A server as an agent has it, with the product's stores, vault and authorization around it, in memory."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import httpx

from ferryman.domain.credentials import connection as rules
from ferryman.domain.credentials.connection import Proof
from ferryman.domain.credentials.credential import Secret
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.owners.plan import PRO
from ferryman.domain.remote_servers.consenting import build_connection
from ferryman.domain.remote_servers.server import RemoteServer, ServerAuth
from ferryman.gcp.clock import SystemClock
from ferryman.inmemory.credentials import MCP_SERVERS, MemoryConnections, MemoryCredentials
from ferryman.inmemory.key_store import MemoryKeyStore
from ferryman.inmemory.log import RecordingLog
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.owners import MemoryHalts
from ferryman.inmemory.remote_servers import MemoryRemoteServers
from ferryman.inmemory.tokens import MemoryTokens
from ferryman.ports.gate import CallPolicy
from ferryman.tools.execute_call import ToolDependencies
from ferryman.tools.mcp.authorization.preparing import ConsentRequest
from ferryman.tools.mcp.authorization.registration import PersonalClient
from ferryman.tools.mcp.connecting import ServerConnecting
from ferryman.tools.mcp.contacting import RemoteCallDependencies, open_contact
from ferryman.tools.mcp.protocol import ClientCapabilities, McpClient
from ferryman.vault import seal
from ferryman.vault.vault import Vault
from tests.campaigns.mcp.conformant.gate import LoopbackGate
from tests.campaigns.mcp.conformant.names import name_addresses
from tests.campaigns.mcp.conformant.person import REDIRECT, consent
from tests.plain_gate import pass_unscanned, redact_plainly

OWNER, ID = "ann", "mcp_1"
DOCUMENT = "https://conformance-test.local/client-metadata.json"
"""The client id that the suite expects of a client with a metadata document."""


@dataclass
class Rig:
    """One server and what connects it. `client_id` and `client_secret` are of a client that was registered beforehand."""

    http: httpx.AsyncClient
    url: str
    client_id: str | None = None
    client_secret: str | None = None
    memory: Memory = field(default_factory=Memory)
    private: bytes = field(default_factory=seal.generate_private_key)

    def __post_init__(self) -> None:
        now = datetime.now(UTC)
        server = RemoteServer(
            id=ID,
            owner=OWNER,
            workspace="ws",
            agent="agent",
            name="suite",
            url=name_addresses(self.url),
            created_at=now,
            updated_at=now,
        )
        self.memory.mcp_servers[ID] = server
        gate = LoopbackGate(self.http)
        tools = ToolDependencies(
            tickets=None,  # type: ignore[arg-type] # no ticket is claimed
            credentials=MemoryCredentials(self.memory),
            connections=MemoryConnections(self.memory),
            server_credentials=MemoryCredentials(self.memory, MCP_SERVERS),
            server_connections=MemoryConnections(self.memory, MCP_SERVERS),
            tokens=MemoryTokens(self.memory),
            vault=Vault(MemoryKeyStore({1: self.private})),
            gate=gate,
            prepare=None,  # type: ignore[arg-type]
            redact=redact_plainly,
            redact_blocks=pass_unscanned,
            integrations={},
            halts=MemoryHalts(self.memory),
            clock=SystemClock(),
            tracer=RecordingLog(),
        )
        servers = MemoryRemoteServers(self.memory)
        self._remote = RemoteCallDependencies(tools=tools, servers=servers, gate=gate)
        self._connecting = ServerConnecting(deps=tools, servers=servers, gate=gate)

    @property
    def server(self) -> RemoteServer:
        """The server as it is stored now."""
        server: RemoteServer = self.memory.mcp_servers[ID]
        return server

    async def build_client(self) -> McpClient:
        """Return a client of the server, with its token where it has one."""
        contact = await open_contact(self._remote, self.server)
        execution = ExecutionPolicy(owner=OWNER, task="", plan=PRO, tools=(), integrations=(), domains=())
        call = CallPolicy(execution=execution, credentials={})
        return contact.build_client(
            self._remote, call, tool="suite__call", capabilities=ClientCapabilities(form=True, url=True)
        )

    async def connect(self, scopes: tuple[str, ...] | None) -> None:
        """Have the person consent, as the API and the command line ask for it. Raise as they do."""
        self.memory.mcp_servers[ID] = replace(self.server, auth=ServerAuth.OAUTH)
        client = (
            None if self.client_id is None else PersonalClient(id=self.client_id, has_secret=self.client_secret is not None)
        )
        request = ConsentRequest(redirect_uri=REDIRECT, client=client, scopes=scopes, document_url=DOCUMENT)
        prepared = await self._connecting.discover(ID, owner=OWNER, request=request)
        state, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        begun = build_connection(self.server, prepared.authorization, redirect_uri=REDIRECT, state=state, now=datetime.now(UTC))
        secret = prepared.client_secret if self.client_secret is None else Secret(self.client_secret)
        public = seal.PublicKey(1, seal.derive_public_key(self.private))
        proof = seal.encode_proof(Proof(verifier=Secret(verifier), client_secret=secret))
        sealed = replace(begun, ciphertext=public.seal(proof, seal.build_connection_info(begun)))
        connections = MemoryConnections(self.memory, MCP_SERVERS)
        await connections.put(sealed, now=datetime.now(UTC), most=rules.PER_TASK_MAX)
        authorization = prepared.authorization
        page = rules.build_authorize_url(authorization.build_oauth(), begun, state=state, verifier=verifier)
        response = await consent(self.http, page, state, authorization.issuer)
        await self._connecting.finish(ID, owner=OWNER, digest=begun.digest, code=response.code, iss=response.iss, version=1)
