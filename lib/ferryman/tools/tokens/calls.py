"""Calls: a declared tool's request sent with its token, and once more with another one after a 401."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace

from ferryman import ports
from ferryman.domain import refusal
from ferryman.domain.call import ToolCallResult
from ferryman.domain.credential import AuthType, Credential, Label, Secret
from ferryman.domain.host import covered
from ferryman.domain.http import Outbound
from ferryman.domain.refusal import Refused
from ferryman.tools.passage import Unsent
from ferryman.tools.tokens.apply import TOKEN, applied, place
from ferryman.tools.tokens.asking import admitted, asking
from ferryman.tools.tokens.fetching import key_of, obtained
from ferryman.tools.tokens.house import Need, TokenHouse

FORMER = "former_token"
"""The name of the token that was no good, while the one in its place is tried: it may come back in that answer."""


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
    each time it is asked. Raises `Refused` or `Unsent` before anything of the tool's own was sent, never after.
    """
    try:
        first = await access(house, need, within_s=left_s())
    except ports.Unavailable as fault:
        raise Unsent(str(fault)) from fault
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
    again = await send(*_with(need, second, former))
    return result if again.blocked else again  # a call that was sent once is not one that was blocked


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
            opened = await house.flights.share((key, stale), lambda: obtained(house, need, request, key, stale))
    except TimeoutError:
        raise Refused(refusal.token_not_fetched("there was no answer in time")) from None
    except Refused as refused:
        house.log.line("token.refused", tool=need.outbound.tool, reason=refused.refusal.reason, **need.about)
        raise Refused(_told(house, need, refused.refusal)) from None
    return Access(credential=_credential(need, opened.secret, host), fetch=opened.fetch)


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
