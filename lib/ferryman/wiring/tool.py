"""A tool function's root: tickets, keys and the gate on Google Cloud. No model in here."""

from __future__ import annotations

from ferryman import catalog
from ferryman.egress.leaks import Scanner
from ferryman.gcp.clock import SystemClock
from ferryman.gcp.connections import FirestoreConnections
from ferryman.gcp.firestore import Firestore
from ferryman.gcp.halts import FirestoreHalts
from ferryman.gcp.http import Wire
from ferryman.gcp.identity import TokenCallers
from ferryman.gcp.keys import SecretManagerKeys
from ferryman.gcp.secret_manager import SecretManager
from ferryman.gcp.tasks import FirestoreCredentials
from ferryman.gcp.tickets import FirestoreTickets
from ferryman.gcp.tokens import FirestoreTokens
from ferryman.settings import Settings
from ferryman.tools.carry import ToolHouse
from ferryman.tools.passage import builtin
from ferryman.vault.vault import Vault
from ferryman.wiring import egress, traces


class Tool:
    """What a tool function is made of: how it carries a call, and the check of who asks."""

    def __init__(self, settings: Settings) -> None:
        firestore = Firestore(settings)
        tracer, integrations = traces.of(settings), catalog.load(settings.integrations)
        gate = egress.gate(settings, tracer)
        self.firestore = firestore
        self.vault = Vault(SecretManagerKeys(SecretManager(settings), settings))
        self.callers = TokenCallers(Wire(), settings)
        self.carrying = ToolHouse(
            tickets=FirestoreTickets(firestore, request_s=settings.request_s),
            credentials=FirestoreCredentials(firestore),
            connections=FirestoreConnections(firestore),
            tokens=FirestoreTokens(firestore),
            vault=self.vault,
            gate=gate,
            read=builtin(gate, integrations),
            redact=lambda credentials, text: Scanner(credentials).redact(text),
            said=lambda credentials, content: Scanner(credentials).said(content),
            integrations=integrations,
            halts=FirestoreHalts(firestore),
            clock=SystemClock(),
            tracer=tracer,
        )
