"""A connector of MCP servers as the API sees it: it discovers what a test says, and stores a token that nobody opens."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from ferryman.domain.credentials.credential import GrantStatus, SealedCredential, Secret
from ferryman.domain.remote_servers.authorization import TOKEN_NAME, PreparedConsent, ServerAuthorization
from ferryman.inmemory.clock import START
from ferryman.inmemory.credentials import MCP_SERVERS, MemoryCredentials
from ferryman.inmemory.memory import Memory
from tests.builders import build_label

ISSUER = "https://login.tools.test"
AUTHORIZATION = ServerAuthorization(
    issuer=ISSUER,
    authorize_url=f"{ISSUER}/authorize",
    token_url=f"{ISSUER}/token",
    resource="https://tools.example.com/mcp",
    client_id="discovered",
    scopes=("tools.read",),
    sends_iss=True,
)


@dataclass
class RecordingServerConnector:
    """`ports.ServerConnector`: what it was asked; it fails as a test says."""

    memory: Memory
    requests: list[dict[str, Any]] = field(default_factory=list)
    fails: Exception | None = None
    client_secret: Secret | None = None

    async def discover(self, server: str, **request: Any) -> PreparedConsent:
        self.requests.append({"server": server, **request})
        if self.fails is not None:
            raise self.fails
        return PreparedConsent(authorization=AUTHORIZATION, client_secret=self.client_secret)

    async def finish(self, server: str, *, owner: str, digest: str, code: str, iss: str | None, version: int) -> str:
        request = {"server": server, "owner": owner, "digest": digest, "code": code, "iss": iss, "version": version}
        self.requests.append(request)
        if self.fails is not None:
            raise self.fails
        credentials = MemoryCredentials(self.memory, MCP_SERVERS)
        label = build_label(
            owner=owner,
            task=server,
            name=TOKEN_NAME,
            service=server,
            hosts=("tools.example.com",),
            version=await credentials.next_version(server, TOKEN_NAME),
        )
        granted = GrantStatus(scopes=("tools.read",), token_expires_at=START + timedelta(hours=1))
        sealed = SealedCredential(
            label=label, ciphertext=b"-", key_version=version, created_at=START, updated_at=START, grant=granted
        )
        await credentials.put(sealed)
        known = self.memory.mcp_servers[server]
        self.memory.mcp_servers[server] = replace(known, authorization=AUTHORIZATION)
        return label.name
