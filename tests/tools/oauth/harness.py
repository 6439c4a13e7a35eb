"""A tool function with the real vault and the real gate, an OAuth server behind it, and a person who consents."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx

from emulator.clock import EmulatorClock
from emulator.internet import Internet
from emulator.internet.oauth import OAuthServer
from ferryman import catalog
from ferryman.domain.credentials import connection as rules
from ferryman.domain.credentials.connection import Connection, Proof
from ferryman.domain.credentials.credential import Credential, SealedCredential, Secret
from ferryman.domain.credentials.integration import Integration, OAuth
from ferryman.egress.gate import EgressGate
from ferryman.egress.simulated import SimulatedInternet
from ferryman.egress.tls import create_context
from ferryman.inmemory.clock import ManualClock
from ferryman.inmemory.credentials import MemoryConnections, MemoryCredentials
from ferryman.inmemory.key_store import MemoryKeyStore
from ferryman.inmemory.log import RecordingLog
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.owners import MemoryHalts
from ferryman.inmemory.tokens import MemoryTokens
from ferryman.tools.execute_call import ToolDependencies
from ferryman.tools.tokens.consent import redeem_code
from ferryman.tools.tokens.renewal import renew_expiring
from ferryman.vault import seal
from ferryman.vault.vault import Vault
from tests.builders import build_label, build_task
from tests.plain_gate import pass_unscanned, redact_plainly

LOGIN, API = "login.calendar.test", "api.calendar.test"
REDIRECT = "http://127.0.0.1:49999/callback"
CLIENT_SECRET = "client-secret-5tQ9wE2rT7yU1iO3"
TASK = build_task(owner="ann")
PRIVATE = {1: seal.generate_private_key(), 2: seal.generate_private_key()}


def entry(**oauth: Any) -> dict[str, Any]:
    """Return the catalog's entry of the service."""
    return {
        "id": "calendar",
        "name": "Calendar",
        "description": "Connected by consent.",
        "category": "test",
        "allowed_domains": [API],
        "credential_key_template": "CALENDAR_TOKEN",
        "oauth": {
            "authorize_url": f"https://{LOGIN}/authorize",
            "token_url": f"https://{LOGIN}/token",
            "hosts": [LOGIN],
            "scopes": ["read", "write"],
            "client_id": "ferryman",
            **oauth,
        },
    }


@dataclass
class Harness:
    """Everything around a consent and a renewal. Time passes only by `passes`."""

    internet: Internet
    cloud: EmulatorClock
    memory: Memory = field(default_factory=Memory)
    clock: ManualClock = field(default_factory=ManualClock)
    log: RecordingLog = field(default_factory=RecordingLog)
    oauth: dict[str, Any] = field(default_factory=dict)
    credentials: MemoryCredentials | None = None
    poll_interval: timedelta = timedelta(milliseconds=2)
    within_s: float = 5.0

    def __post_init__(self) -> None:
        self.memory.tasks["t"] = TASK
        self.keys = MemoryKeyStore(PRIVATE)
        self.vault = Vault(self.keys)

    @property
    def server(self) -> OAuthServer:
        server = self.internet.server(LOGIN)
        assert server is not None
        return server

    @property
    def counts(self) -> dict[str, int]:
        return dict(self.server.report()["counts"])  # type: ignore[call-overload]

    @property
    def service(self) -> Integration:
        return catalog.load([entry(**self.oauth)])["calendar"]

    @property
    def way(self) -> OAuth:
        assert self.service.oauth is not None
        return self.service.oauth

    def rules(self, **change: Any) -> None:
        """Change the rules of the server."""
        self.server.rules = replace(self.server.rules, **change)

    def passes(self, seconds: float) -> None:
        """Let time pass, here and at the server."""
        self.clock.turn(seconds)
        self.cloud.advance(timedelta(seconds=seconds))

    def deps(self) -> ToolDependencies:
        internet = SimulatedInternet(self.internet.table)
        gate = EgressGate(
            names=internet,
            dial=internet,
            tls=create_context(internet.read_table().ca, internet.read_table().client),
            tracer=self.log,
            within_s=self.within_s,
        )
        return ToolDependencies(
            tickets=None,  # type: ignore[arg-type]  # no call is executed here
            credentials=self.credentials or MemoryCredentials(self.memory),
            connections=MemoryConnections(self.memory),
            tokens=MemoryTokens(self.memory),
            vault=self.vault,
            gate=gate,
            prepare=None,  # type: ignore[arg-type]
            redact=redact_plainly,
            redact_blocks=pass_unscanned,
            integrations={"calendar": self.service},
            halts=MemoryHalts(self.memory),
            clock=self.clock,
            tracer=self.log,
            poll_interval=self.poll_interval,
        )

    async def begin(self, *, secret: str | None = None, client_id: str = "ferryman") -> tuple[Connection, str]:
        """Return a connection as the API begins it, and the address of the consent page."""
        state, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        begun = Connection(
            digest=rules.digest_state(state),
            label=build_label(owner="ann", name="CALENDAR_TOKEN", version=0, service="calendar", hosts=(API,)),
            redirect_uri=REDIRECT,
            token_url=self.way.token_url,
            client_id=client_id,
            creds_location=self.way.creds_location,
            scopes=("read", "write"),
            expires_at=self.clock.now() + rules.LIFETIME,
        )
        proof = Proof(verifier=Secret(verifier), client_secret=None if secret is None else Secret(secret))
        public = seal.PublicKey(1, seal.derive_public_key(PRIVATE[1]))
        sealed = replace(begun, ciphertext=public.seal(seal.encode_proof(proof), seal.build_connection_info(begun)))
        await MemoryConnections(self.memory).put(sealed, now=self.clock.now(), most=rules.PER_TASK_MAX)
        return sealed, rules.build_authorize_url(self.way, begun, state=state, verifier=verifier)

    async def consent(self, address: str) -> str:
        """Return the code of a person who allows it."""
        transport = httpx.ASGITransport(app=self.server)  # type: ignore[arg-type]
        async with httpx.AsyncClient(transport=transport) as browser:
            query = dict(parse_qs(urlsplit(address).query, strict_parsing=True))
            form = {name: value[0] for name, value in query.items()} | {"decision": "allow"}
            answer = await browser.post(f"https://{LOGIN}/authorize", data=form)
        assert answer.status_code == 302, answer.text
        assert answer.headers["location"].startswith(REDIRECT)
        return parse_qs(urlsplit(answer.headers["location"]).query)["code"][0]

    async def finish(
        self, connection: Connection, code: str, *, owner: str = "ann", iss: str | None = None, version: int = 1
    ) -> str:
        return await redeem_code(
            self.deps(), task="t", owner=owner, digest=connection.digest, code=code, iss=iss, version=version
        )

    async def connect(self, **options: Any) -> Credential:
        """Return the open credential of a whole consent."""
        begun, address = await self.begin(**options)
        await self.finish(begun, await self.consent(address))
        return await self.open_credential()

    def read_sealed(self) -> SealedCredential:
        return self.memory.credentials["t"]["CALENDAR_TOKEN"]

    async def open_credential(self) -> Credential:
        return await self.vault.open_credential(self.read_sealed())

    async def use_credential(self, credential: Credential, *, services: tuple[str, ...] = ("calendar",)) -> Credential:
        """Return the credential as a call gets it that names it."""
        after = await renew_expiring(self.deps(), {credential.name: credential}, names=[credential.name], services=services)
        return after[credential.name]
