"""The token cache: a token that is kept, or one that is fetched now, by one instance for all that need it.

A token belongs to an owner and to what its auth block comes to: the same block under the same credentials of the same task
(none, where it uses none) is one token for all tools, calls and instances, and a credential with a new value is another.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable
from dataclasses import asdict
from datetime import timedelta

from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import SETTLING_TIME
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.oauth import TokenResponseError
from ferryman.domain.credentials.token import Fetch, Token, compute_use_s
from ferryman.domain.stale import StaleError
from ferryman.ports.errors import UnavailableError
from ferryman.tools.tokens.client import TokenRequest, request_token
from ferryman.tools.tokens.dependencies import OpenToken, TokenDependencies, TokenNeed

FETCH = timedelta(seconds=10)
"""One token request; the call it is for has to fit beside it into the call's own time."""

UNDER_WAY = FETCH + SETTLING_TIME
"""How long nobody else fetches; after that the instance that did is taken to be dead."""

WAITS = UNDER_WAY + FETCH
"""One fetch that nobody finishes, and the one after it."""

POLL_INTERVAL = timedelta(milliseconds=250)


def cache_key(deps: TokenDependencies, need: TokenNeed, request: TokenRequest) -> str:
    """Return whose token, and what for: 64 hexadecimal digits. Of the credentials in use, only the versions are in it."""
    outbound = request.outbound
    identity = {
        "owner": need.policy.owner,
        "task": request.task,
        "auth": [type(need.auth).__name__, asdict(need.auth)],
        "request": [outbound.fixed_headers, outbound.query_params, outbound.body],
        "credentials": {name: credential.label.version for name, credential in request.used.items()},
        "sealed to": deps.sealer.version,
    }
    return hashlib.sha256(json.dumps(identity, sort_keys=True, default=str).encode()).hexdigest()


async def obtain_token(
    deps: TokenDependencies, need: TokenNeed, request: TokenRequest, key: str, stale: str | None
) -> OpenToken:
    """Return the token that is kept, or one fetched now; while another instance fetches one, that one's."""
    began = deps.clock.now()
    while (now := deps.clock.now()) < began + WAITS:
        slot = await deps.tokens.get(key)
        token = slot.find_usable_token(stale=stale, now=now) if slot else None
        if token is not None:
            secret = await deps.vault.open_token(token.ciphertext, owner=need.policy.owner, key=key, fetch=token.fetch)
            if secret is not None:
                return secret, token.fetch
            stale = token.fetch
        if slot is not None and slot.is_claimed(now):
            await deps.pause(POLL_INTERVAL.total_seconds())
            continue
        fetch = Fetch(name=deps.ids.new("fetch"), until=now + UNDER_WAY)
        if (await deps.tokens.claim(key, need.policy.owner, request.task, fetch, stale=stale, now=now)).fetch == fetch:
            return await _fetch(deps, need, request, key, fetch)
    raise CallRefusedError(refusal.refuse_without_token("there was no answer in time"))


async def _fetch(deps: TokenDependencies, need: TokenNeed, request: TokenRequest, key: str, fetch: Fetch) -> OpenToken:
    owner, now = need.policy.owner, deps.clock.now()
    try:
        response = await request_token(deps.gate, request, policy=need.policy, within_s=FETCH.total_seconds(), now=now)
        value = response.access_token.reveal()
        if await deps.redact(owner, request.confidential, value) != value:  # in any spelling: the owner may name any endpoint
            raise TokenResponseError("the token endpoint gave back what it was sent as the token")
    except BaseException as error:
        await _keep(deps, need, deps.tokens.release(key, fetch.name))
        if isinstance(error, TokenResponseError):
            raise CallRefusedError(refusal.refuse_without_token(str(error))) from None
        raise
    seconds = compute_use_s(need.auth.cache_ttl, response.expires_in_s)
    ciphertext = deps.sealer.seal(value.encode("ascii"), deps.info(owner, key, fetch.name))
    token = Token(fetch=fetch.name, ciphertext=ciphertext, expires_at=now + timedelta(seconds=seconds))
    await _keep(deps, need, deps.tokens.put(key, token))
    deps.log.line("token.fetched", tool=need.outbound.tool, used_s=seconds, **need.about)
    return response.access_token, fetch.name


async def _keep(deps: TokenDependencies, need: TokenNeed, storing: Awaitable[None]) -> None:
    """Await `storing`. What could not be stored costs others a fetch, and this call nothing."""
    try:
        await storing
    except (StaleError, UnavailableError) as fault:
        deps.log.line("token.not_kept", tool=need.outbound.tool, kind=type(fault).__name__, severity="WARNING", **need.about)
