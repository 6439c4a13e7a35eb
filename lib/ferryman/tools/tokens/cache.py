"""The token cache: return the stored token, or one that is fetched now, by one instance for all that need it.

A token belongs to an owner and to its filled auth block: the same block with the same credentials of the same task (no task
where it uses none) has one token for all tools, calls and instances; a credential with a new value has another.
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
"""The time of one token request; it must leave enough of the call's own time."""

FETCH_LEASE = FETCH + SETTLING_TIME
"""How long no other instance fetches the token; after that, the one that did is presumed dead."""

WAIT_MAX = FETCH_LEASE + FETCH
"""The time of one fetch that is never finished, and of the next one."""

POLL_INTERVAL = timedelta(milliseconds=250)


def cache_key(deps: TokenDependencies, need: TokenNeed, request: TokenRequest) -> str:
    """Return the key of a token: 64 hexadecimal digits of its owner, its request, and the versions of its credentials."""
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
    """Return the stored token, or one fetched now; while another instance fetches one, wait for that."""
    began = deps.clock.now()
    while (now := deps.clock.now()) < began + WAIT_MAX:
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
        fetch = Fetch(name=deps.ids.new("fetch"), until=now + FETCH_LEASE)
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
        await _store(deps, need, deps.tokens.release(key, fetch.name))
        if isinstance(error, TokenResponseError):
            raise CallRefusedError(refusal.refuse_without_token(str(error))) from None
        raise
    seconds = compute_use_s(need.auth.cache_ttl, response.expires_in_s)
    ciphertext = deps.sealer.seal(value.encode("ascii"), deps.info(owner, key, fetch.name))
    token = Token(fetch=fetch.name, ciphertext=ciphertext, expires_at=now + timedelta(seconds=seconds))
    await _store(deps, need, deps.tokens.put(key, token))
    deps.log.line("token.fetched", tool=need.outbound.tool, used_s=seconds, **need.about)
    return response.access_token, fetch.name


async def _store(deps: TokenDependencies, need: TokenNeed, storing: Awaitable[None]) -> None:
    """Await `storing`. A token that could not be stored costs other calls a fetch, and this one nothing."""
    try:
        await storing
    except (StaleError, UnavailableError) as fault:
        deps.log.line("token.not_kept", tool=need.outbound.tool, kind=type(fault).__name__, severity="WARNING", **need.about)
