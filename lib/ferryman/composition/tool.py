"""A tool function's root: tickets, keys and the gate on Google Cloud. No model in here."""

from __future__ import annotations

from ferryman import catalog
from ferryman.egress import checking
from ferryman.egress.build import build_gate
from ferryman.gcp.approvals import FirestoreApprovals
from ferryman.gcp.clock import SystemClock
from ferryman.gcp.connections import FirestoreConnections
from ferryman.gcp.credentials import FirestoreCredentials
from ferryman.gcp.firestore import FirestoreClient
from ferryman.gcp.halts import FirestoreHalts
from ferryman.gcp.http import HttpClient
from ferryman.gcp.identity import TokenCallers
from ferryman.gcp.keys import SecretManagerKeys
from ferryman.gcp.log import JsonLog
from ferryman.gcp.places import MCP_SERVERS
from ferryman.gcp.remote_servers import FirestoreRemoteServers
from ferryman.gcp.secret_manager import SecretManagerClient
from ferryman.gcp.tickets import FirestoreTickets
from ferryman.gcp.tokens import FirestoreTokens
from ferryman.settings import Settings
from ferryman.telemetry.traces import OtelTracer
from ferryman.tools.approving.confirming import ApprovingDependencies
from ferryman.tools.execute_call import ToolDependencies, build_opened_cache
from ferryman.tools.prepared_call import make_builtin_preparer
from ferryman.vault.decisions import PublishedKeys
from ferryman.vault.sign import parse_public_keys
from ferryman.vault.vault import Vault


class ToolFunction:
    """What a tool function is made of: how it executes a call, and the check of who asks."""

    def __init__(self, settings: Settings) -> None:
        firestore = FirestoreClient(settings)
        tracer, integrations = OtelTracer(JsonLog(), settings), catalog.load(settings.integrations)
        gate = build_gate(settings, tracer)
        self.firestore, self.gate = firestore, gate
        self.secrets = SecretManagerClient(settings)
        opened = build_opened_cache(settings.keys_ttl_s)
        self.vault = Vault(SecretManagerKeys(self.secrets, settings), life_s=settings.keys_ttl_s, rotated=opened.clear)
        self.callers = TokenCallers(HttpClient(local=settings.local), settings)
        self.dependencies = ToolDependencies(
            tickets=FirestoreTickets(firestore, request_s=settings.request_s),
            credentials=FirestoreCredentials(firestore),
            connections=FirestoreConnections(firestore),
            server_credentials=FirestoreCredentials(firestore, MCP_SERVERS),
            server_connections=FirestoreConnections(firestore, MCP_SERVERS),
            remote_servers=FirestoreRemoteServers(firestore),
            tokens=FirestoreTokens(firestore),
            vault=self.vault,
            gate=gate,
            prepare=make_builtin_preparer(gate, integrations),
            redact=checking.redact,
            redact_blocks=checking.scan_output,
            integrations=integrations,
            halts=FirestoreHalts(firestore),
            clock=SystemClock(),
            tracer=tracer,
            approving=ApprovingDependencies(
                approvals=FirestoreApprovals(firestore),
                verifier=PublishedKeys(parse_public_keys(settings.decision_public_keys)),
                clock=SystemClock(),
            ),
            opened=opened,
        )

    def load(self) -> None:
        """Import what a first call needs besides."""
        self.firestore.load()
        self.callers.load()
        self.secrets.load()
        OtelTracer.load()

    async def warm(self) -> None:
        """Connect: what a first call would wait for."""
        await self.firestore.warm()
        await self.secrets.warm()

    async def warm_worker(self) -> None:
        """Start a worker process, which a first long text would wait for; short ones need none."""
        await checking.warm()
