"""A world for tokens: a login endpoint that counts, an API that takes its tokens, and instances that share one store."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from ferryman.domain.call import ToolCallResult
from ferryman.domain.credential import AuthType, Credential, Label, Secret
from ferryman.domain.declared import Auth, ClientCredentials
from ferryman.domain.http import Hole, Inbound, Method, Mixed, Outbound
from ferryman.domain.plan import PRO
from ferryman.domain.remit import Remit
from ferryman.local.clock import CountingIds, HandClock
from ferryman.local.gate import Arrived, PlainGate, answered, plainly
from ferryman.local.keys import MemoryKeys
from ferryman.local.log import KeptLog
from ferryman.local.memory import Memory
from ferryman.local.tokens import MemoryTokens
from ferryman.tools.tokens import Need, TokenHouse, sent
from ferryman.vault.seal import PublicKey, generate, public_of, token_info
from ferryman.vault.vault import Vault
from tests.planted import key

PRIVATE = generate()
SECRET = key("client secret", 40, after="+/=")
HOSTS = ("login.service.test", "api.service.test")
OAUTH = ClientCredentials(
    token_url="https://login.service.test/token",
    client_id="the client",
    client_secret="{{secrets.CLIENT_SECRET}}",
    scope="read write",
)
REMIT = Remit(
    owner="ann",
    task="task_1",
    plan=PRO,
    tools=("http_tool",),
    integrations=("service",),
    domains=(*HOSTS, "api.other.test"),
    credentials=("CLIENT_SECRET",),
)
OUTBOUND = Outbound(tool="forecast", method=Method.GET, url="https://api.service.test/v1/forecast")


def credential(
    value: str = SECRET, *, version: int = 1, hosts: tuple[str, ...] = HOSTS, name: str = "CLIENT_SECRET"
) -> Credential:
    label = Label(
        owner="ann", task="task_1", name=name, version=version, service="service", auth_type=AuthType.BEARER, hosts=hosts
    )
    return Credential(label=label, secret=Secret(value))


def need(auth: Auth = OAUTH, **changes: Any) -> Need:
    """What a call of the tool needs, with `changes`."""
    found = Need(
        auth=auth,
        outbound=OUTBOUND,
        remit=REMIT,
        credentials={"CLIENT_SECRET": credential()},
        about={"seq": 1},
    )
    return replace(found, **changes)


def token(number: int) -> str:
    """The token that the login endpoint gives for its request of that number, from 1."""
    return key(f"token {number}", 48)


class Login:
    """A login endpoint. It keeps what it was asked; `told` is the rest of its answer; while `held`, it does not answer."""

    def __init__(self) -> None:
        self.asked: list[Arrived] = []
        self.told: Mapping[str, Any] = {"token_type": "Bearer", "expires_in": 3_600}
        self.answer: Callable[[Arrived], Inbound] | None = None
        self.held: asyncio.Event | None = None
        self.reached = asyncio.Event()

    async def __call__(self, arrived: Arrived) -> Inbound:
        self.asked.append(arrived)
        self.reached.set()
        number = len(self.asked)
        if self.held is not None:
            await self.held.wait()
        await asyncio.sleep(0)
        if self.answer is not None:
            return self.answer(arrived)
        return answered(json.dumps({"access_token": token(number), **self.told}))


class Api:
    """The tool's own endpoint: it takes the tokens in `good`, and answers any other with `status`."""

    def __init__(self, *good: str, status: int = 401) -> None:
        self.good = set(good)
        self.status = status
        self.got: list[str] = []
        self.known: list[Mapping[str, Credential]] = []

    async def send(self, outbound: Outbound, credentials: Mapping[str, Credential]) -> ToolCallResult:
        header = outbound.fixed_headers["Authorization"]
        assert isinstance(header, Mixed)
        value = "".join(each if isinstance(each, str) else credentials[each.name].secret.reveal() for each in header.pieces)
        self.got.append(value.removeprefix("Bearer "))
        self.known.append(credentials)
        await asyncio.sleep(0)
        fine = self.got[-1] in self.good
        return ToolCallResult(outbound.tool, "ok" if fine else "no", response_status=200 if fine else self.status)


@dataclass
class World:
    """One store, one clock, one login endpoint; `instance` is another process at work on them."""

    memory: Memory = field(default_factory=Memory)
    clock: HandClock = field(default_factory=HandClock)
    login: Login = field(default_factory=Login)
    log: KeptLog = field(default_factory=KeptLog)
    ids: CountingIds = field(default_factory=CountingIds)
    key_version: int = 1

    def instance(self, *, pause: Callable[[float], Awaitable[Any]] | None = None, **changes: Any) -> TokenHouse:
        house = TokenHouse(
            tokens=MemoryTokens(self.memory),
            gate=PlainGate(self.login),
            vault=Vault(MemoryKeys({1: PRIVATE, 2: PRIVATE})),
            sealer=PublicKey(self.key_version, public_of(PRIVATE)),
            info=token_info,
            redact=plainly,
            clock=self.clock,
            ids=self.ids,
            log=self.log,
            pause=pause or self.waits,
        )
        return replace(house, **changes)

    async def reached(self, work: Coroutine[Any, Any, str]) -> asyncio.Task[str]:
        """`work`, begun, when it waits for the login endpoint."""
        begun, reached = asyncio.create_task(work), asyncio.create_task(self.login.reached.wait())
        await asyncio.wait({begun, reached}, return_when=asyncio.FIRST_COMPLETED)
        assert reached.done(), begun.exception()
        return begun

    async def waits(self, seconds: float) -> None:
        """A pause in which that much time passes."""
        self.clock.turn(timedelta(seconds=seconds))
        await asyncio.sleep(0)


async def call(house: TokenHouse, api: Api, what: Need | None = None) -> ToolCallResult:
    """One call of the tool, with 30 seconds to do it in."""
    return await sent(house, what or need(), api.send, left_s=lambda: 30)


def holes(text: Any) -> list[str]:
    """The names of the holes in `text`."""
    return [each.name for each in text.pieces if isinstance(each, Hole)] if isinstance(text, Mixed) else []
