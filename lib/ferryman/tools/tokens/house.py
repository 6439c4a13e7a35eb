"""Tokens for calls: one that is kept, or one that is fetched now, by one for all that need it; and once more after a 401.

A token belongs to an owner and to what its auth block comes to: the same block under the same credentials of the same task
(none, where it uses none) is one token for all tools, calls and instances, and a credential that was stored anew is another.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import timedelta
from typing import Any, Protocol

from ferryman import ports
from ferryman.domain import refusal
from ferryman.domain.call import SETTLES, ToolCallResult
from ferryman.domain.credential import AuthType, Credential, Label, Secret
from ferryman.domain.declared import Auth
from ferryman.domain.host import covered
from ferryman.domain.http import Inbound, Outbound, Text
from ferryman.domain.refusal import Refused
from ferryman.domain.remit import Remit
from ferryman.domain.token import ANSWER_BYTES_MAX, Fetch, Token
from ferryman.tools.tokens import answer
from ferryman.tools.tokens.apply import TOKEN, applied, place
from ferryman.tools.tokens.asking import Asking, admitted, asking
from ferryman.tools.tokens.flights import Flights

FORMER = "former_token"
"""The name of the token that was no good, while the one in its place is tried: it may come back in that answer."""

FETCH = timedelta(seconds=10)
"""One token request; the call it is for has to fit beside it into the call's own time."""

UNDER_WAY = FETCH + SETTLES
"""How long nobody else fetches; after that the one who did is taken to be dead."""

WAITS = UNDER_WAY + FETCH
"""One fetch that nobody finishes, and the one after it."""

LOOKS = timedelta(milliseconds=250)


class Gate(Protocol):
    """The only way out, for a request whose answer stays in here. Raises `Refused`; checks all that `send` checks."""

    async def fetch(
        self,
        outbound: Outbound,
        *,
        remit: Remit,
        credentials: Mapping[str, Credential],
        within_s: float | None = None,
        body_max: int | None = None,
    ) -> Inbound: ...


class Vault(Protocol):
    """Opens a token at rest; None for one that does not open. Raises `Unavailable`."""

    async def token(self, ciphertext: bytes, *, owner: str, key: str, fetch: str) -> Secret | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenHouse:
    """Everything around tokens, one for each process.

    `info` is what a token is bound to at sealing: its owner, its key and its fetch. `redact` takes open credentials and a text.
    """

    tokens: ports.Tokens
    gate: Gate
    vault: Vault
    sealer: ports.Sealer
    info: Callable[[str, str, str], bytes]
    redact: Callable[[Iterable[Credential], str], str]
    clock: ports.Clock
    ids: ports.Ids
    log: ports.Log
    pause: Callable[[float], Awaitable[Any]] = asyncio.sleep
    flights: Flights[Opened] = field(default_factory=lambda: Flights())


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What a token is for: one call of a tool with this `auth`, as it would go out without.

    `credentials` are all of the task, each with the hosts it may go to in this execution; `env` is None where no template may
    name the environment. `about` is added to the lines that are logged.
    """

    auth: Auth
    outbound: Outbound
    remit: Remit
    credentials: Mapping[str, Credential] = field(repr=False)
    env: Mapping[str, Text] | None = field(default=None, repr=False)
    about: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Opened:
    """A token as the one who fetched or opened it has it, and the fetch that brought it."""

    secret: Secret = field(repr=False)
    fetch: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """A token for one call. `credential` may go to the tool's own host, and nowhere else."""

    credential: Credential
    fetch: str


Send = Callable[[Outbound, Mapping[str, Credential]], Awaitable[ToolCallResult]]


async def sent(house: TokenHouse, need: Need, send: Send, *, left_s: Callable[[], float]) -> ToolCallResult:
    """The result of the call, sent with its token; sent once more, with another one, after a status that asks for it (S1-33).

    This is what carrying a tool with an auth block calls in place of the gate. `send` is `Gate.send` for what it is given: the
    request with its hole, and all credentials with the token among them. `left_s` tells the seconds left for the whole call,
    each time it is asked. Raises `Refused` or `Unavailable` before anything of the tool's own was sent, never after.
    """
    first = await access(house, need, within_s=left_s())
    result = await send(*_with(need, first))
    if not _asks_again(need, result):
        return result
    try:
        second = await access(house, need, within_s=left_s(), instead_of=first)
    except Exception as fault:  # noqa: BLE001 - the call was sent: whatever happens now, it has an answer
        house.log.line(
            "token.not_renewed", tool=need.outbound.tool, kind=type(fault).__name__, severity="WARNING", **need.about
        )
        return result
    if left_s() <= 0:
        return result
    former = replace(first.credential, label=replace(first.credential.label, name=FORMER, hosts=()))
    return await send(*_with(need, second, former))


async def access(house: TokenHouse, need: Need, *, within_s: float, instead_of: Access | None = None) -> Access:
    """A token for the call, other than `instead_of`, which is forgotten for everybody. Raises `Refused` or `Unavailable`."""
    stale = instead_of.fetch if instead_of else None
    try:
        host = admitted(need.outbound.url, need.remit)
        request = asking(need.auth, tool=need.outbound.tool, remit=need.remit, credentials=need.credentials, env=need.env)
        for each in request.used.values():
            if not covered(each.label.hosts, host):  # what was got for a credential goes no further than that
                raise Refused(refusal.credential_not_for_host(each.name, host))
        key = key_of(house, need, request)
        async with asyncio.timeout(max(0.0, within_s)):
            opened = await house.flights.share((key, stale), lambda: _obtained(house, need, request, key, stale))
    except TimeoutError:
        raise Refused(refusal.token_not_fetched("there was no answer in time")) from None
    except Refused as refused:
        house.log.line("token.refused", tool=need.outbound.tool, reason=refused.refusal.reason, **need.about)
        raise Refused(_told(house, need, refused.refusal)) from None
    return Access(credential=_credential(need, opened.secret, host), fetch=opened.fetch)


def key_of(house: TokenHouse, need: Need, request: Asking) -> str:
    """Whose token, and what for: 64 hexadecimal digits. Of the credentials that are used, only the versions go into it."""
    asked = request.outbound
    told = {
        "owner": need.remit.owner,
        "task": need.remit.task if request.used else None,
        "auth": [type(need.auth).__name__, asdict(need.auth)],
        "request": [asked.fixed_headers, asked.query_params, asked.body],
        "credentials": {name: each.label.version for name, each in request.used.items()},
        "sealed to": house.sealer.version,
    }
    return hashlib.sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()


async def _obtained(house: TokenHouse, need: Need, request: Asking, key: str, stale: str | None) -> Opened:
    """The token that is kept, or one fetched now; while another instance fetches one, that one's."""
    began = house.clock.now()
    while (now := house.clock.now()) < began + WAITS:
        slot = await house.tokens.get(key)
        token = slot.good(stale=stale, now=now) if slot else None
        if token is not None:
            secret = await house.vault.token(token.ciphertext, owner=need.remit.owner, key=key, fetch=token.fetch)
            if secret is not None:
                return Opened(secret, token.fetch)
            stale = token.fetch
        if slot is not None and slot.busy(now):
            await house.pause(LOOKS.total_seconds())
            continue
        fetch = Fetch(name=house.ids.new("fetch"), until=now + UNDER_WAY)
        if (await house.tokens.take(key, need.remit.owner, fetch, stale=stale, now=now)).fetch == fetch:
            return await _fetched(house, need, request, key, fetch)
    raise Refused(refusal.token_not_fetched("there was no answer in time"))


async def _fetched(house: TokenHouse, need: Need, request: Asking, key: str, fetch: Fetch) -> Opened:
    asked = house.clock.now()
    try:
        inbound = await house.gate.fetch(
            request.outbound,
            remit=need.remit,
            credentials=request.credentials,
            within_s=FETCH.total_seconds(),
            body_max=ANSWER_BYTES_MAX,
        )
        value, used_s = answer.read(need.auth, inbound, request.credentials.values(), now_s=asked.timestamp())
    except BaseException:
        await _kept(house, need, house.tokens.leave(key, fetch.name))
        raise
    ciphertext = house.sealer.seal(value.encode("ascii"), house.info(need.remit.owner, key, fetch.name))
    token = Token(fetch=fetch.name, ciphertext=ciphertext, expires_at=asked + timedelta(seconds=used_s))
    await _kept(house, need, house.tokens.put(key, token))
    house.log.line("token.fetched", tool=need.outbound.tool, used_s=used_s, **need.about)
    return Opened(Secret(value), fetch.name)


async def _kept(house: TokenHouse, need: Need, storing: Awaitable[None]) -> None:
    """What could not be stored costs others a fetch, and this call nothing."""
    try:
        await storing
    except (ports.Stale, ports.Unavailable) as fault:
        house.log.line("token.not_kept", tool=need.outbound.tool, kind=type(fault).__name__, severity="WARNING", **need.about)


def _asks_again(need: Need, result: ToolCallResult) -> bool:
    """Whether the status says that the token was no good, and sending once more can do nothing twice."""
    status = result.response_status
    if status is None or status not in need.auth.refresh_on:
        return False
    return need.outbound.repeatable or 400 <= status < 500


def _with(need: Need, access: Access, *others: Credential) -> tuple[Outbound, dict[str, Credential]]:
    found = {each.name: each for each in (access.credential, *others)}
    return applied(need.outbound, place(need.auth)), {**need.credentials, **found}


def _credential(need: Need, secret: Secret, host: str) -> Credential:
    where = place(need.auth)
    header = where.location == "header"
    label = Label(
        owner=need.remit.owner,
        task=need.remit.task,
        name=TOKEN,
        version=1,
        service="",
        auth_type=AuthType.HEADER if header else AuthType.QUERY_PARAM,
        auth_header_name=where.name if header else None,
        auth_param_name=None if header else where.name,
        hosts=(host,),
    )
    return Credential(label=label, secret=secret)


def _told(house: TokenHouse, need: Need, reason: refusal.Refusal) -> refusal.Refusal:
    """`reason` as one for a call that was not sent; a host or a name in it may be a secret in disguise."""
    why = reason.message.removeprefix("Error: ")
    message = reason.message if reason.reason == "token_not_fetched" else refusal.token_not_fetched(why).message
    return replace(reason, message=house.redact(need.credentials.values(), message), blocked=True)
