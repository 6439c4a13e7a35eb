"""Access: send a declared tool's request with its token, and once more with another token where the first was rejected.

A 401 means that the request was not executed (RFC 9110, 15.5.2). Another status in `refresh_on` does not mean that, whatever
the tool's owner intends: a request that is not safe to repeat is in doubt then, and is not sent again.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ferryman.declared.auth import TOKEN_MARK, get_placement
from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.credential import AuthType, Credential, Secret
from ferryman.domain.http.headers import normalize_header
from ferryman.domain.http.request import OutboundRequest, SecretPlaceholder, Template
from ferryman.domain.http.url import parse_url
from ferryman.domain.tools.declared import Apply
from ferryman.ports.errors import NotSentError, UnavailableError
from ferryman.tools.tokens.cache import cache_key, obtain_token
from ferryman.tools.tokens.client import TOKEN, bind_secret
from ferryman.tools.tokens.dependencies import TokenDependencies, TokenNeed
from ferryman.tools.tokens.token_request import build_token_request

_FORMATS = {"header": f"Bearer {TOKEN_MARK}", "query": TOKEN_MARK}
UNAUTHORIZED = 401
FORMER = "former_token"
"""The name of the rejected token while its replacement is tried: it may occur in that answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """A token for one call. `credential` may go to the tool's own host, and nowhere else."""

    credential: Credential
    fetch: str


Send = Callable[[OutboundRequest, Mapping[str, Credential]], Awaitable[ToolCallResult]]


async def send_with_token(
    deps: TokenDependencies, need: TokenNeed, send: Send, *, left_s: Callable[[], float]
) -> ToolCallResult:
    """Return the result of the call, sent with its token, and once more with another after a status that asks for it (S1-33).

    A tool with an auth block calls this in place of the gate. `send` gets the request with the placeholder of the
    token, and all credentials with the token among them. `left_s` returns the seconds that are left for the whole call.
    Raise `CallRefusedError` or `NotSentError` before anything of the tool's own was sent, never after.
    """
    try:
        first = await obtain_access(deps, need, within_s=left_s())
    except UnavailableError as fault:
        raise NotSentError(str(fault)) from fault
    result = await send(*_place(need, first))
    status = result.response_status
    if status is None or status not in need.auth.refresh_on:
        return result
    if status != UNAUTHORIZED and not need.outbound.repeatable:
        result = _doubt(result, status)
    try:
        second = await obtain_access(deps, need, within_s=left_s(), instead_of=first)
    except Exception as fault:  # noqa: BLE001 - the call was sent: whatever happens now, it has an answer
        deps.log.line("token.not_renewed", tool=need.outbound.tool, kind=type(fault).__name__, severity="WARNING", **need.about)
        return result
    if left_s() <= 0 or result.response_status is None:
        return result  # the next call has another token
    former = replace(first.credential, label=replace(first.credential.label, name=FORMER, hosts=()))
    try:
        again = await send(*_place(need, second, former))
    except NotSentError:
        return result
    return result if again.blocked else again  # a call that was sent once was not blocked


def _doubt(result: ToolCallResult, status: int) -> ToolCallResult:
    """Return the result of a call whose effect is unknown, whatever `status` it was answered with."""
    unknown = ToolCallResult.from_refusal(result.tool, refusal.IN_DOUBT, url=result.url, method=result.method)
    return replace(
        unknown,
        content=f"{unknown.content} It was answered with HTTP {status}.",
        credential_used=result.credential_used,
        response_size_bytes=result.response_size_bytes,
        latency_ms=result.latency_ms,
    )


async def obtain_access(
    deps: TokenDependencies, need: TokenNeed, *, within_s: float, instead_of: Access | None = None
) -> Access:
    """Return a token for the call, other than `instead_of`, which no call uses any longer.

    Raise `CallRefusedError` or `UnavailableError`.
    """
    stale = instead_of.fetch if instead_of else None
    try:
        request = build_token_request(need)
        key = cache_key(deps, need, request)
        async with asyncio.timeout(max(0.0, within_s)):
            secret, fetch = await deps.single_flight.share((key, stale), lambda: obtain_token(deps, need, request, key, stale))
    except TimeoutError:
        raise CallRefusedError(refusal.refuse_without_token("there was no answer in time")) from None
    except CallRefusedError as refused:
        deps.log.line("token.refused", tool=need.outbound.tool, reason=refused.refusal.reason, **need.about)
        raise CallRefusedError(await _explain(deps, need, refused.refusal)) from None
    return Access(credential=_bind(need, secret), fetch=fetch)


def _place(need: TokenNeed, access: Access, *others: Credential) -> tuple[OutboundRequest, dict[str, Credential]]:
    beside = {credential.name: credential for credential in (access.credential, *others)}
    return place_token(need.outbound, get_placement(need.auth)), {**need.credentials, **beside}


def _bind(need: TokenNeed, secret: Secret) -> Credential:
    apply, policy = get_placement(need.auth), need.policy
    hosts = (parse_url(need.outbound.url).host,)
    credential = bind_secret(TOKEN, secret, owner=policy.owner, task=policy.task, hosts=hosts)
    if apply.location == "header":
        label = replace(credential.label, auth_type=AuthType.HEADER, auth_header_name=apply.name)
    else:
        label = replace(credential.label, auth_type=AuthType.QUERY_PARAM, auth_param_name=apply.name)
    return replace(credential, label=label)


async def _explain(deps: TokenDependencies, need: TokenNeed, reason: refusal.Refusal) -> refusal.Refusal:
    """Return `reason` for a call that was not sent, redacted: a host or a name in it may be an encoded secret."""
    why = reason.message.removeprefix("Error: ")
    message = reason.message if reason.reason == "token_not_fetched" else refusal.refuse_without_token(why).message
    return replace(reason, message=await deps.redact(need.policy.owner, need.credentials.values(), message), blocked=True)


def place_token(outbound: OutboundRequest, apply: Apply) -> OutboundRequest:
    """Return `outbound` with the placeholder for the token, in place of anything under that name, however it is spelt."""
    parts = re.split(f"({re.escape(TOKEN_MARK)})", apply.format or _FORMATS[apply.location])
    text = Template(tuple(SecretPlaceholder(TOKEN) if part == TOKEN_MARK else part for part in parts if part))
    if apply.location == "query":
        others = {name: value for name, value in outbound.query_params.items() if name.lower() != apply.name.lower()}
        return replace(outbound, query_params={**others, apply.name: text})
    headers, fixed = (_without(named, apply.name) for named in (outbound.headers, outbound.fixed_headers))
    return replace(outbound, headers=headers, fixed_headers={**fixed, apply.name: text})


def _without(named: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in named.items() if normalize_header(key) != normalize_header(name)}
