"""Calling a custom tool: its declaration is read, the arguments are checked, and it goes out, with a token if it needs one."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ferryman import ports
from ferryman.declared import check, request
from ferryman.domain import refusal
from ferryman.domain.call import ToolCallResult
from ferryman.domain.credential import Credential
from ferryman.domain.declared import Declared
from ferryman.domain.http import Outbound, Text
from ferryman.domain.integration import Integration
from ferryman.domain.refusal import Refused
from ferryman.tools import arguments as given
from ferryman.tools.custom.definitions import CALL, CUSTOM, DELETE, IMPORT
from ferryman.tools.custom.handling import Handling
from ferryman.tools.passage import Gate, Passage, Reader, Reading, keyed, sending
from ferryman.tools.tokens.calls import sent
from ferryman.tools.tokens.house import Need, TokenHouse


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How the request of a declared tool goes out, with a token if it needs one.

    `env` is what variables stand for in its templates, None where they may not be named. `clock` counts seconds.
    """

    gate: Gate
    tokens: TokenHouse
    integrations: Mapping[str, Integration]
    env: Mapping[str, Text] | None = None
    clock: Callable[[], float] = time.monotonic


@dataclass(frozen=True, slots=True, kw_only=True)
class Custom:
    """What the custom tools need beyond what every tool function has."""

    clusters: ports.Clusters
    way: Way
    handling: Handling


def reader(custom: Custom) -> Reader:
    """The reader of the custom tools: those that are declared, and the three that handle them."""

    async def read(reading: Reading) -> Passage:
        tool, arguments = reading.errand.ticket.tool, reading.arguments
        if tool == IMPORT.name:
            given.check(IMPORT, arguments)
            return custom.handling.importing(reading)
        if tool == DELETE.name:
            given.check(DELETE, arguments)
            return custom.handling.deleting(reading)
        if tool == CALL.name:
            given.check(CALL, arguments)
            name = arguments["toolName"]
            if name in {each.name for each in CUSTOM}:
                raise Refused(refusal.unknown_tool(name))
            return await _calling(custom, reading, name, arguments.get("arguments", {}), known=False)
        return await _calling(custom, reading, tool, arguments, known=True)

    return read


async def _calling(custom: Custom, reading: Reading, name: str, arguments: Mapping[str, object], *, known: bool) -> Passage:
    """`known` tells that the model was shown the tool: then it has to be the one that was shown."""
    errand, frozen = reading.errand, reading.errand.remit.declared.get(name)
    tool = await custom.clusters.find(errand.remit.task, name)
    if tool is None:
        raise Refused(refusal.tool_changed(name) if frozen else refusal.unknown_tool(name))
    if known and tool.fingerprint != frozen:
        raise Refused(refusal.tool_changed(name))
    if not tool.enabled:
        raise Refused(refusal.tool_disabled(name, tool.reason or "its owner switched it off"))
    reading = await reading.using(check.uses(tool) | check.token_secrets(tool))
    passage = ready(custom.way, reading, tool, arguments)
    # what another declaration of the same name may have sent is not known
    return passage if tool.fingerprint == frozen else replace(passage, repeatable=False)


def ready(way: Way, reading: Reading, tool: Declared, arguments: Mapping[str, object]) -> Passage:
    """The passage of a call of `tool`, or `Refused`."""
    errand = reading.errand
    state = {
        "date": errand.created.strftime("%Y-%m-%d"),
        "datetime": errand.created.isoformat(),
        "execution_id": errand.summons.execution,
        "task_name": errand.task_name,
    }
    outbound = keyed(request.outbound(tool, arguments, state=state, env=way.env), errand, way.integrations)
    passage = sending(way.gate, outbound, reading)
    if tool.auth is None:
        return passage
    need = Need(
        auth=tool.auth,
        outbound=outbound,
        remit=errand.remit,
        credentials=reading.credentials,
        env=way.env,
        about=reading.about,
    )

    async def go(within_s: float) -> ToolCallResult:
        until = way.clock() + within_s

        def left_s() -> float:
            return until - way.clock()

        async def send(outbound: Outbound, credentials: Mapping[str, Credential]) -> ToolCallResult:
            return await sending(way.gate, outbound, replace(reading, credentials=credentials)).go(left_s())

        try:
            return await sent(way.tokens, need, send, left_s=left_s)
        except Refused as refused:
            # it never came to the gate, which redacts what it refuses
            url = way.tokens.redact(reading.credentials.values(), outbound.url)
            return ToolCallResult.refused(tool.name, refused.refusal, url=url, method=outbound.method.value)

    return replace(passage, go=go)
