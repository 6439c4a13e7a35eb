"""A far bank with the real vault and the real gate, an OAuth server behind it, and a person who consents."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx

from emulator.clock import Clock
from emulator.internet import Internet
from emulator.internet.oauth import Server
from ferryman import catalog
from ferryman.domain import connection as rules
from ferryman.domain.connection import Connection, Proof
from ferryman.domain.credential import AuthType, Credential, Label, Sealed, Secret
from ferryman.domain.integration import Integration, OAuth
from ferryman.domain.task import Task
from ferryman.egress import tls
from ferryman.egress.gate import Gate
from ferryman.egress.local import Pretend
from ferryman.local.clock import START, HandClock
from ferryman.local.connections import MemoryConnections
from ferryman.local.halts import MemoryHalts
from ferryman.local.keys import MemoryKeys
from ferryman.local.log import KeptLog
from ferryman.local.memory import Memory
from ferryman.local.tasks import MemoryCredentials
from ferryman.local.tokens import MemoryTokens
from ferryman.tools.carry import ToolHouse
from ferryman.tools.connect import finish
from ferryman.tools.refresh import fresh
from ferryman.vault import grants, seal
from ferryman.vault.vault import Vault

LOGIN, API = "login.calendar.test", "api.calendar.test"
REDIRECT = "http://127.0.0.1:49999/callback"
CLIENT_SECRET = "client-secret-5tQ9wE2rT7yU1iO3"
TASK = Task(id="t", owner="ann", name="n", task_prompt="p", model="m", created_at=START, updated_at=START)
PRIVATE = {1: seal.generate(), 2: seal.generate()}


def entry(**oauth: Any) -> dict[str, Any]:
    """The catalog's entry of the service."""
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
class World:
    """Everything around `finish` and `fresh`. Time passes only by `passes`."""

    internet: Internet
    cloud: Clock
    memory: Memory = field(default_factory=Memory)
    clock: HandClock = field(default_factory=HandClock)
    log: KeptLog = field(default_factory=KeptLog)
    oauth: dict[str, Any] = field(default_factory=dict)
    credentials: MemoryCredentials | None = None
    looks: timedelta = timedelta(milliseconds=2)
    within_s: float = 5.0

    def __post_init__(self) -> None:
        self.memory.tasks["t"] = TASK
        self.keys = MemoryKeys(PRIVATE)
        self.vault = Vault(self.keys)

    @property
    def server(self) -> Server:
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
        """Have the server go on with other rules."""
        self.server.rules = replace(self.server.rules, **change)

    def passes(self, seconds: float) -> None:
        """Time, here and there."""
        self.clock.turn(seconds)
        self.cloud.advance(timedelta(seconds=seconds))

    def house(self) -> ToolHouse:
        pretend = Pretend(self.internet.table)
        gate = Gate(names=pretend, dial=pretend, tls=tls.context(pretend.ca), tracer=self.log, within_s=self.within_s)
        return ToolHouse(
            tickets=None,  # type: ignore[arg-type]  # no call is carried here
            credentials=self.credentials or MemoryCredentials(self.memory),
            connections=MemoryConnections(self.memory),
            tokens=MemoryTokens(self.memory),
            vault=self.vault,
            gate=gate,
            read=None,  # type: ignore[arg-type]
            redact=lambda _, text: text,
            said=lambda _, content: content,
            integrations={"calendar": self.service},
            halts=MemoryHalts(self.memory),
            clock=self.clock,
            tracer=self.log,
            looks=self.looks,
        )

    async def begin(self, *, secret: str | None = None, client_id: str = "ferryman") -> tuple[Connection, str]:
        """A connection as the API begins it, and the address of the consent page."""
        state, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        begun = Connection(
            digest=rules.digest(state),
            label=Label(
                owner="ann",
                task="t",
                name="CALENDAR_TOKEN",
                version=0,
                service="calendar",
                auth_type=AuthType.BEARER,
                hosts=(API,),
            ),
            redirect_uri=REDIRECT,
            token_url=self.way.token_url,
            client_id=client_id,
            creds_location=self.way.creds_location,
            scopes=("read", "write"),
            expires_at=self.clock.now() + rules.LIFETIME,
        )
        proof = Proof(verifier=Secret(verifier), client_secret=None if secret is None else Secret(secret))
        public = seal.PublicKey(1, seal.public_of(PRIVATE[1]))
        sealed = replace(begun, ciphertext=public.seal(grants.proof_written(proof), seal.connection_info(begun)))
        await MemoryConnections(self.memory).put(sealed, now=self.clock.now(), most=rules.PER_TASK_MAX)
        return sealed, rules.authorize_url(self.way, begun, state=state, verifier=verifier)

    async def consent(self, address: str) -> str:
        """The code of a person who allows it."""
        transport = httpx.ASGITransport(app=self.server)  # type: ignore[arg-type]
        async with httpx.AsyncClient(transport=transport) as browser:
            asked = dict(parse_qs(urlsplit(address).query, strict_parsing=True))
            form = {name: value[0] for name, value in asked.items()} | {"decision": "allow"}
            answer = await browser.post(f"https://{LOGIN}/authorize", data=form)
        assert answer.status_code == 302, answer.text
        assert answer.headers["location"].startswith(REDIRECT)
        return parse_qs(urlsplit(answer.headers["location"]).query)["code"][0]

    async def finish(self, connection: Connection, code: str, *, owner: str = "ann", version: int = 1) -> str:
        return await finish(self.house(), task="t", owner=owner, digest=connection.digest, code=code, version=version)

    async def connected(self, **given: Any) -> Credential:
        """The credential that a whole consent has brought, open."""
        begun, address = await self.begin(**given)
        await self.finish(begun, await self.consent(address))
        return await self.opened()

    def stored(self) -> Sealed:
        return self.memory.credentials["t"]["CALENDAR_TOKEN"]

    async def opened(self) -> Credential:
        return await self.vault.credential(self.stored())

    async def used(self, credential: Credential, *, services: tuple[str, ...] = ("calendar",)) -> Credential:
        """The credential as a call is given it that names it."""
        after = await fresh(self.house(), {credential.name: credential}, names=[credential.name], services=services)
        return after[credential.name]
