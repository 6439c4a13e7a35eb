"""Fetching: a token that is kept, or one that is fetched now, by one for all that need it.

A token belongs to an owner and to what its auth block comes to: the same block under the same credentials of the same task
(none, where it uses none) is one token for all tools, calls and instances, and a credential that was stored anew is another.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable
from dataclasses import asdict
from datetime import timedelta

from ferryman import ports
from ferryman.domain import refusal
from ferryman.domain.call import SETTLES
from ferryman.domain.credential import Secret
from ferryman.domain.refusal import Refused
from ferryman.domain.token import ANSWER_BYTES_MAX, Fetch, Token
from ferryman.tools.tokens import answer
from ferryman.tools.tokens.apply import TOKEN
from ferryman.tools.tokens.asking import Asking
from ferryman.tools.tokens.house import Need, Opened, TokenHouse

FETCH = timedelta(seconds=10)
"""One token request; the call it is for has to fit beside it into the call's own time."""

UNDER_WAY = FETCH + SETTLES
"""How long nobody else fetches; after that the one who did is taken to be dead."""

WAITS = UNDER_WAY + FETCH
"""One fetch that nobody finishes, and the one after it."""

LOOKS = timedelta(milliseconds=250)


def key_of(house: TokenHouse, need: Need, request: Asking) -> str:
    """Whose token, and what for: 64 hexadecimal digits. Of the credentials that are used, only the versions go into it."""
    asked = request.outbound
    told = {
        "owner": need.remit.owner,
        "task": _task(need, request),
        "auth": [type(need.auth).__name__, asdict(need.auth)],
        "request": [asked.fixed_headers, asked.query_params, asked.body],
        "credentials": {name: each.label.version for name, each in request.used.items()},
        "sealed to": house.sealer.version,
    }
    return hashlib.sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()


def _task(need: Need, request: Asking) -> str:
    """The task whose credentials are used, "" where none are: such a token is the owner's."""
    return need.remit.task if request.used else ""


async def obtained(house: TokenHouse, need: Need, request: Asking, key: str, stale: str | None) -> Opened:
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
        if (await house.tokens.take(key, need.remit.owner, _task(need, request), fetch, stale=stale, now=now)).fetch == fetch:
            return await _fetched(house, need, request, key, fetch)
    raise Refused(refusal.token_not_fetched("there was no answer in time"))


async def _fetched(house: TokenHouse, need: Need, request: Asking, key: str, fetch: Fetch) -> Opened:
    asked = house.clock.now()
    # a login may well answer the token that it answered before
    ours = [each for each in request.credentials.values() if each.name != TOKEN]
    try:
        inbound = await house.gate.fetch(
            request.outbound,
            remit=need.remit,
            credentials=request.credentials,
            within_s=FETCH.total_seconds(),
            body_max=ANSWER_BYTES_MAX,
        )
        value, used_s = answer.read(need.auth, inbound, ours, now_s=asked.timestamp())
        if house.redact(ours, value) != value:  # in whatever spelling
            raise Refused(refusal.token_not_fetched("the token endpoint gave a credential back as the token"))
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
