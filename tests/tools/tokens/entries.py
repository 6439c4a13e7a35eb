"""The two ways to a token: a declared tool's auth block, and a person's consent; both ask the same token endpoint."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta

from ferryman import catalog
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.connection import Connection, NotConnectedError, Proof
from ferryman.domain.credentials.credential import Secret
from ferryman.domain.credentials.token import compute_use_s
from ferryman.domain.http.request import InboundResponse
from ferryman.inmemory.clock import START, ManualClock
from ferryman.inmemory.credentials import MemoryConnections, MemoryCredentials
from ferryman.inmemory.key_store import MemoryKeyStore
from ferryman.inmemory.log import RecordingLog
from ferryman.inmemory.memory import Memory
from ferryman.tools.tokens.access import obtain_access
from ferryman.tools.tokens.consent import redeem_code
from ferryman.tools.tokens.dependencies import GrantDependencies
from ferryman.vault import seal
from ferryman.vault.vault import Vault
from tests.builders import build_label, build_task
from tests.plain_gate import FilledRequest, PlainGate

from .harness import OAUTH, PRIVATE, SECRET, Harness, need

CLIENT_ID = "the client: 1/é"
CODE = "the code of the consent"


class NoTokenError(Exception):
    """What either way says where it brings no token."""


@dataclass
class TokenResult:
    """What came of one token request: the token, its lifetime, what was sent, and everything that was logged."""

    token: str
    lifetime_s: int | None
    arrived: FilledRequest


@dataclass
class Endpoint:
    """A token endpoint with one answer; it keeps what it was requests."""

    answer: InboundResponse
    requests: list[FilledRequest] = field(default_factory=list)

    async def __call__(self, arrived: FilledRequest) -> InboundResponse:
        self.requests.append(arrived)
        return self.answer


async def by_declared_tool(answer: InboundResponse, *, creds_location: str = "basic_header") -> TokenResult:
    """Ask as a declared tool with client credentials does."""
    harness, endpoint = Harness(), Endpoint(answer)
    auth = replace(OAUTH, client_id=CLIENT_ID, creds_location=creds_location)
    try:
        access = await obtain_access(harness.instance(gate=PlainGate(endpoint)), need(auth), within_s=30)
    except CallRefusedError as refused:
        assert SECRET not in str(harness.log.lines)
        raise NoTokenError(refused.refusal.message) from None
    (slot,) = harness.memory.tokens.values()
    seconds = None if slot.token is None else int((slot.token.expires_at - START).total_seconds())
    return TokenResult(access.credential.secret.reveal(), seconds, endpoint.requests[0])


async def by_consent(answer: InboundResponse, *, creds_location: str = "basic_header") -> TokenResult:
    """Ask as a person's consent does."""
    memory, log, endpoint = Memory(), RecordingLog(), Endpoint(answer)
    memory.tasks["t"] = build_task(owner="ann")
    public = seal.PublicKey(1, seal.derive_public_key(PRIVATE))
    begun = Connection(
        digest="d",
        label=build_label(owner="ann", version=0, service="service", hosts=("api.service.test",)),
        redirect_uri="http://127.0.0.1:9/callback",
        token_url=OAUTH.token_url,
        client_id=CLIENT_ID,
        creds_location=creds_location,
        scopes=(),
        expires_at=START + timedelta(minutes=1),
    )
    proof = Proof(verifier=Secret("v" * 43), client_secret=Secret(SECRET))
    memory.connections["t"] = {
        "d": replace(begun, ciphertext=public.seal(seal.encode_proof(proof), seal.build_connection_info(begun)))
    }
    vault = Vault(MemoryKeyStore({1: PRIVATE}))
    deps = GrantDependencies(
        credentials=MemoryCredentials(memory),
        connections=MemoryConnections(memory),
        vault=vault,
        gate=PlainGate(endpoint),
        integrations=catalog.load([SERVICE]),
        clock=ManualClock(),
        tracer=log,
    )
    try:
        await redeem_code(deps, task="t", owner="ann", digest="d", code=CODE, iss=None, version=1)
    except NotConnectedError as error:
        assert SECRET not in str(log.lines)
        raise NoTokenError(str(error)) from None
    credential = await vault.open_credential(memory.credentials["t"]["K"])
    assert credential.grant is not None
    expires = credential.grant.expires_at
    seconds = None if expires is None else int((expires - START).total_seconds())
    return TokenResult(credential.secret.reveal(), seconds, endpoint.requests[0])


SERVICE = {
    "id": "service",
    "name": "Service",
    "description": "Connected by consent.",
    "category": "test",
    "allowed_domains": ["api.service.test"],
    "oauth": {
        "authorize_url": "https://login.service.test/authorize",
        "token_url": OAUTH.token_url,
        "hosts": ["login.service.test"],
    },
}

ENTRIES: dict[str, Callable[..., Awaitable[TokenResult]]] = {"declared tool": by_declared_tool, "consent": by_consent}


def expected_use_s(entry: str, expires_in_s: int | None) -> int | None:
    """Return how long either way keeps a token: a declared tool by its limits (S1-30), a consent as the answer says."""
    return compute_use_s(None, expires_in_s) if entry == "declared tool" else expires_in_s
