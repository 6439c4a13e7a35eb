"""Calling a custom tool: read its declaration, check the arguments, and send its request, with a token if it needs one."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from ferryman import offload
from ferryman.declared import check, request
from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.credential import Credential
from ferryman.domain.credentials.integration import Integration
from ferryman.domain.http.request import OutboundRequest, Text
from ferryman.domain.tools.declared import DeclaredTool
from ferryman.domain.tools.settings import ToolSettings
from ferryman.ports.clusters import Clusters
from ferryman.ports.gate import FetchGate
from ferryman.tools.arguments import rendering_errors, run_argument_worker
from ferryman.tools.declared.management import ClusterManager
from ferryman.tools.prepared_call import CallContext, PreparedCall, add_idempotency_key, prepare_request
from ferryman.tools.tokens.access import send_with_token
from ferryman.tools.tokens.dependencies import TokenDependencies, TokenNeed

offload.preload(request.build_request)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredToolDependencies:
    """What sending the request of a declared tool needs.

    `env` are the values of the variables in its templates, None where they may not be named.
    """

    gate: FetchGate
    tokens: TokenDependencies
    integrations: Mapping[str, Integration]
    env: Mapping[str, Text] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomToolDependencies:
    """What the custom tools need beyond the dependencies of every tool function."""

    clusters: Clusters
    declared: DeclaredToolDependencies
    manager: ClusterManager


async def prepare_stored(
    custom: CustomToolDependencies, context: CallContext, name: str, arguments: Mapping[str, object], *, known: bool
) -> PreparedCall:
    """Prepare the call of the stored tool `name`. One that is `known` to the model must be the one that it was shown."""
    policy = context.claimed_call.policy
    if policy.limits.find_taking_levels(name):
        raise CallRefusedError(policy.refuse_tool(name))  # one that was imported since is held to the same lists
    settings = policy.settings_of(name)
    tool, fingerprint = await custom.clusters.find(policy.task, name), policy.declared.get(name)
    if tool is None:
        raise CallRefusedError(refusal.refuse_changed_tool(name) if fingerprint else refusal.refuse_unknown_tool(name))
    if known and tool.fingerprint != fingerprint:
        raise CallRefusedError(refusal.refuse_changed_tool(name))
    if not tool.enabled:
        raise CallRefusedError(refusal.refuse_disabled_tool(name, tool.reason or "its owner switched it off"))
    login, fixed = check.find_login_credentials(tool), settings.fix_arguments(arguments)
    context = replace(await context.renew_credentials(check.find_credentials(tool) | login), login=login)
    if context.confirm is not None:
        context.confirm.know_tool(tool.name, fixed, tool.fingerprint)
    prepared_call = await prepare_declared_call(custom.declared, context, tool, fixed)
    prepared_call = limit_time(prepared_call, settings)
    # nobody knows what another declaration of the same name may have sent
    return prepared_call if tool.fingerprint == fingerprint else replace(prepared_call, repeatable=False)


def limit_time(prepared_call: PreparedCall, settings: ToolSettings) -> PreparedCall:
    """Return the call, which takes at most the seconds that the agent's settings of the tool allow."""

    async def go(within_s: float) -> ToolCallResult:
        return await prepared_call.go(settings.limit_time(within_s))

    return prepared_call if settings.timeout_s is None else replace(prepared_call, go=go)


async def prepare_declared_call(
    deps: DeclaredToolDependencies, context: CallContext, tool: DeclaredTool, arguments: Mapping[str, object]
) -> PreparedCall:
    """Return the prepared call of `tool`. Raise `CallRefusedError`."""
    outbound = await _build_request(deps, context, tool, arguments)
    outbound = add_idempotency_key(outbound, context.claimed_call, deps.integrations)
    prepared_call = prepare_request(deps.gate, outbound, context)
    if tool.auth is None:
        return prepared_call
    need = TokenNeed(
        auth=tool.auth,
        outbound=outbound,
        policy=context.claimed_call.policy,
        credentials=context.credentials,
        env=deps.env,
        about=context.about,
    )
    return replace(prepared_call, go=partial(_send_with_token, deps, context, need))


async def _build_request(
    deps: DeclaredToolDependencies, context: CallContext, tool: DeclaredTool, arguments: Mapping[str, object]
) -> OutboundRequest:
    claimed_call = context.claimed_call
    state = {
        "date": claimed_call.created.strftime("%Y-%m-%d"),
        "datetime": claimed_call.created.isoformat(),
        "execution_id": claimed_call.call_request.execution,
        "task_name": claimed_call.task_name,
    }
    owner = claimed_call.policy.owner
    with rendering_errors():
        return await run_argument_worker(owner, tool.name, request.build_request, tool, arguments, state=state, env=deps.env)


async def _send_with_token(
    deps: DeclaredToolDependencies, context: CallContext, need: TokenNeed, within_s: float
) -> ToolCallResult:
    until = time.monotonic() + within_s

    async def send(outbound: OutboundRequest, credentials: Mapping[str, Credential]) -> ToolCallResult:
        return await deps.gate.send(outbound, replace(context, credentials=credentials).build_policy(until - time.monotonic()))

    try:
        return await send_with_token(deps.tokens, need, send, left_s=lambda: until - time.monotonic())
    except CallRefusedError as refused:
        url, method = await _redact_url(deps, need), need.outbound.method.value
        return ToolCallResult.from_refusal(need.outbound.tool, refused.refusal, url=url, method=method)


async def _redact_url(deps: DeclaredToolDependencies, need: TokenNeed) -> str | None:
    """Return the URL of a call that did not reach the gate, which redacts what it refuses; None where that is impossible."""
    try:
        return await deps.tokens.redact(need.policy.owner, need.credentials.values(), need.outbound.url)
    except CallRefusedError:
        return None
