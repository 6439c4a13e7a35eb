"""Calling a custom tool: its declaration is read, the arguments are checked, and it goes out, with a token if it needs one."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ferryman import offload
from ferryman.declared import check, request
from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.credential import Credential
from ferryman.domain.credentials.integration import Integration
from ferryman.domain.http.request import OutboundRequest, Text
from ferryman.domain.tools.declared import DeclaredTool
from ferryman.ports.clusters import Clusters
from ferryman.ports.gate import FetchGate
from ferryman.tools.arguments import check_arguments
from ferryman.tools.declared.definitions import CALL, CUSTOM, DELETE, IMPORT
from ferryman.tools.declared.management import ClusterManager
from ferryman.tools.prepared_call import CallContext, CallPreparer, PreparedCall, add_idempotency_key, prepare_request
from ferryman.tools.tokens import TokenDependencies, TokenNeed, send_with_token
from ferryman.tools.workers import run_argument_worker

offload.preload(request.build_request)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredToolDependencies:
    """How the request of a declared tool goes out, with a token if it needs one.

    `env` is what variables stand for in its templates, None where they may not be named. `clock` counts seconds.
    """

    gate: FetchGate
    tokens: TokenDependencies
    integrations: Mapping[str, Integration]
    env: Mapping[str, Text] | None = None
    clock: Callable[[], float] = time.monotonic


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomToolDependencies:
    """What the custom tools need beyond what every tool function has."""

    clusters: Clusters
    way: DeclaredToolDependencies
    handling: ClusterManager


def make_custom_preparer(custom: CustomToolDependencies) -> CallPreparer:
    """The reader of the custom tools: those that are declared, and the three that handle them."""

    async def read(reading: CallContext) -> PreparedCall:
        tool, arguments = reading.claimed_call.ticket.tool, reading.arguments
        for each in CUSTOM:
            if tool == each.name:
                await run_argument_worker(reading.claimed_call.policy.owner, tool, check_arguments, each, arguments)
        if tool == IMPORT.name:
            return custom.handling.importing(reading)
        if tool == DELETE.name:
            return custom.handling.deleting(reading)
        if tool == CALL.name:
            name = arguments["toolName"]
            if name in {each.name for each in CUSTOM}:
                raise CallRefusedError(refusal.refuse_unknown_tool(name))
            return await _calling(custom, reading, name, arguments.get("arguments", {}), known=False)
        return await _calling(custom, reading, tool, arguments, known=True)

    return read


async def _calling(
    custom: CustomToolDependencies, reading: CallContext, name: str, arguments: Mapping[str, object], *, known: bool
) -> PreparedCall:
    """`known` tells that the model was shown the tool: then it has to be the one that was shown."""
    claimed_call, frozen = reading.claimed_call, reading.claimed_call.policy.declared.get(name)
    tool = await custom.clusters.find(claimed_call.policy.task, name)
    if tool is None:
        raise CallRefusedError(refusal.refuse_changed_tool(name) if frozen else refusal.refuse_unknown_tool(name))
    if known and tool.fingerprint != frozen:
        raise CallRefusedError(refusal.refuse_changed_tool(name))
    if not tool.enabled:
        raise CallRefusedError(refusal.refuse_disabled_tool(name, tool.reason or "its owner switched it off"))
    reading = await reading.renew_credentials(check.find_credentials(tool) | check.find_login_credentials(tool))
    prepared_call = await prepare_declared_call(custom.way, reading, tool, arguments)
    # what another declaration of the same name may have sent is not known
    return prepared_call if tool.fingerprint == frozen else replace(prepared_call, repeatable=False)


async def prepare_declared_call(
    way: DeclaredToolDependencies, reading: CallContext, tool: DeclaredTool, arguments: Mapping[str, object]
) -> PreparedCall:
    """The passage of a call of `tool`, or `CallRefusedError`."""
    claimed_call = reading.claimed_call
    state = {
        "date": claimed_call.created.strftime("%Y-%m-%d"),
        "datetime": claimed_call.created.isoformat(),
        "execution_id": claimed_call.call_request.execution,
        "task_name": claimed_call.task_name,
    }
    made = await run_argument_worker(
        claimed_call.policy.owner, tool.name, request.build_request, tool, arguments, state=state, env=way.env
    )
    outbound = add_idempotency_key(made, claimed_call, way.integrations)
    prepared_call = prepare_request(way.gate, outbound, reading)
    if tool.auth is None:
        return prepared_call
    need = TokenNeed(
        auth=tool.auth,
        outbound=outbound,
        policy=claimed_call.policy,
        credentials=reading.credentials,
        env=way.env,
        about=reading.about,
    )

    async def go(within_s: float) -> ToolCallResult:
        until = way.clock() + within_s

        def left_s() -> float:
            return until - way.clock()

        async def send(outbound: OutboundRequest, credentials: Mapping[str, Credential]) -> ToolCallResult:
            return await prepare_request(way.gate, outbound, replace(reading, credentials=credentials)).go(left_s())

        try:
            return await send_with_token(way.tokens, need, send, left_s=left_s)
        except CallRefusedError as refused:
            # it never came to the gate, which redacts what it refuses
            try:
                url = await way.tokens.redact(claimed_call.policy.owner, reading.credentials.values(), outbound.url)
            except CallRefusedError:
                url = None
            return ToolCallResult.from_refusal(tool.name, refused.refusal, url=url, method=outbound.method.value)

    return replace(prepared_call, go=go)
