"""A harness for tokens: a login endpoint that counts, an API that takes its tokens, and instances that share one store."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.credentials.credential import Credential, Secret
from ferryman.domain.http.request import InboundResponse, Method, OutboundRequest, SecretPlaceholder, Template
from ferryman.domain.tools.declared import Auth, ClientCredentials
from ferryman.inmemory.clock import CountingIds, ManualClock
from ferryman.inmemory.key_store import MemoryKeyStore
from ferryman.inmemory.log import RecordingLog
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.tokens import MemoryTokens
from ferryman.tools.tokens.access import send_with_token
from ferryman.tools.tokens.dependencies import TokenDependencies, TokenNeed
from ferryman.vault.seal import PublicKey, build_token_info, derive_public_key, generate_private_key
from ferryman.vault.vault import Vault
from tests.builders import build_label, build_policy
from tests.canaries.canary import create_key
from tests.domain.token_answers import SECRET
from tests.plain_gate import FilledRequest, PlainGate, build_response, redact_plainly

PRIVATE = generate_private_key()
HOSTS = ("login.service.test", "api.service.test")
OAUTH = ClientCredentials(
    token_url="https://login.service.test/token",
    client_id="the client",
    client_secret="{{secrets.CLIENT_SECRET}}",
    scope="read write",
)
POLICY = build_policy(
    owner="ann",
    task="task_1",
    tools=("http_tool",),
    integrations=("service",),
    domains=(*HOSTS, "api.other.test"),
    credentials=("CLIENT_SECRET",),
)
OUTBOUND = OutboundRequest(tool="forecast", method=Method.GET, url="https://api.service.test/v1/forecast")


def credential(
    value: str = SECRET, *, version: int = 1, hosts: tuple[str, ...] = HOSTS, name: str = "CLIENT_SECRET"
) -> Credential:
    label = build_label(owner="ann", task="task_1", name=name, version=version, service="service", hosts=hosts)
    return Credential(label=label, secret=Secret(value))


def need(auth: Auth = OAUTH, **changes: Any) -> TokenNeed:
    """Build the need of a token for a call of the tool, with `changes`."""
    token_need = TokenNeed(
        auth=auth,
        outbound=OUTBOUND,
        policy=POLICY,
        credentials={"CLIENT_SECRET": credential()},
        about={"seq": 1},
    )
    return replace(token_need, **changes)


def token(number: int) -> str:
    """Return the token that the login endpoint gives for its request of that number, from 1."""
    return create_key(f"token {number}", 48)


class Login:
    """A login endpoint. It records its `requests`, answers with `fields` beside the token, and waits for `gate` if any."""

    def __init__(self) -> None:
        self.requests: list[FilledRequest] = []
        self.fields: Mapping[str, Any] = {"token_type": "Bearer", "expires_in": 3_600}
        self.answer: Callable[[FilledRequest], InboundResponse] | None = None
        self.gate: asyncio.Event | None = None
        self.reached = asyncio.Event()

    async def __call__(self, arrived: FilledRequest) -> InboundResponse:
        self.requests.append(arrived)
        self.reached.set()
        number = len(self.requests)
        if self.gate is not None:
            await self.gate.wait()
        await asyncio.sleep(0)
        if self.answer is not None:
            return self.answer(arrived)
        return build_response(json.dumps({"access_token": token(number), **self.fields}))


class Api:
    """The tool's own endpoint: it takes the tokens in `good`, and answers any other with `status`."""

    def __init__(self, *good: str, status: int = 401) -> None:
        self.good = set(good)
        self.status = status
        self.got: list[str] = []
        self.known: list[Mapping[str, Credential]] = []

    async def send(self, outbound: OutboundRequest, credentials: Mapping[str, Credential]) -> ToolCallResult:
        header = outbound.fixed_headers["Authorization"]
        assert isinstance(header, Template)
        value = "".join(item if isinstance(item, str) else credentials[item.name].secret.reveal() for item in header.pieces)
        self.got.append(value.removeprefix("Bearer "))
        self.known.append(credentials)
        await asyncio.sleep(0)
        fine = self.got[-1] in self.good
        return ToolCallResult(outbound.tool, "ok" if fine else "no", response_status=200 if fine else self.status)


@dataclass
class Harness:
    """One store, one clock, one login endpoint; `instance` is another process at work on them."""

    memory: Memory = field(default_factory=Memory)
    clock: ManualClock = field(default_factory=ManualClock)
    login: Login = field(default_factory=Login)
    log: RecordingLog = field(default_factory=RecordingLog)
    ids: CountingIds = field(default_factory=CountingIds)
    key_version: int = 1

    def instance(self, *, pause: Callable[[float], Awaitable[Any]] | None = None, **changes: Any) -> TokenDependencies:
        deps = TokenDependencies(
            tokens=MemoryTokens(self.memory),
            gate=PlainGate(self.login),
            vault=Vault(MemoryKeyStore({1: PRIVATE, 2: PRIVATE})),
            sealer=PublicKey(self.key_version, derive_public_key(PRIVATE)),
            info=build_token_info,
            redact=redact_plainly,
            clock=self.clock,
            ids=self.ids,
            log=self.log,
            pause=pause or self.waits,
        )
        return replace(deps, **changes)

    async def reached(self, work: Coroutine[Any, Any, str]) -> asyncio.Task[str]:
        """Begin `work`, and return it when it waits for the login endpoint."""
        begun, reached = asyncio.create_task(work), asyncio.create_task(self.login.reached.wait())
        await asyncio.wait({begun, reached}, return_when=asyncio.FIRST_COMPLETED)
        assert reached.done(), begun.exception()
        return begun

    async def waits(self, seconds: float) -> None:
        """Pause, and let that much time pass."""
        self.clock.turn(timedelta(seconds=seconds))
        await asyncio.sleep(0)


async def call(deps: TokenDependencies, api: Api, what: TokenNeed | None = None) -> ToolCallResult:
    """Make one call of the tool, in at most 30 seconds."""
    return await send_with_token(deps, what or need(), api.send, left_s=lambda: 30)


def placeholders(text: Any) -> list[str]:
    """Return the names of the placeholders in `text`."""
    return [item.name for item in text.pieces if isinstance(item, SecretPlaceholder)] if isinstance(text, Template) else []
