"""Calls of the platform's tools, sent on: what is stored of a call is believed, and nothing that the caller says besides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ferryman.catalog.tools import find_tool
from ferryman.domain.calls.refusal import ERROR
from ferryman.domain.calls.suggestion import FUNCTION_FAILED
from ferryman.domain.stale import StaleError
from ferryman.ports.clock import Clock
from ferryman.ports.errors import RejectedError
from ferryman.ports.platform import Platform, RunningCalls
from ferryman.tools.local_function.execute import Answer

FUNCTION = "platform_call"
"""The function that sends these calls on."""

CALL_META, CODE_META = "com.ferryman/call", "com.ferryman/code"
"""The members of `_meta`: in a request the call that it makes (execution and seq), in a result the code of its failure."""

PAGES_MAX = 20
TTL_MAX_S = 600.0
"""The longest a list of tools is taken for the present one, whatever the server says."""


class ForeignCallError(Exception):
    """The call is for another user or workspace than this runtime serves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardingDependencies:
    """Everything that calls are sent on with. `user` and `workspace` are the only ones served; "": every one."""

    calls: RunningCalls
    platform: Platform
    clock: Clock
    user: str = ""
    workspace: str = ""


async def forward_call(deps: ForwardingDependencies, execution: str, seq: int, *, epoch: int, within_s: float) -> Answer:
    """Return what the platform answers to a call that is under way. Raise `StaleError` or `UnavailableError`."""
    running = await deps.calls.get(execution, seq, epoch=epoch, now=deps.clock.now())
    ticket, policy, context = running.ticket, running.execution.policy, running.execution.context
    if policy is None or ticket.tool not in policy.tools or find_tool(ticket.tool).function != FUNCTION:
        raise StaleError("the call is none of this function's")
    params = {
        "name": ticket.tool,
        "arguments": dict(ticket.display_arguments),
        "_meta": {CALL_META: {"execution": execution, "seq": seq}},
    }
    try:
        _check_served(deps, context.user, context.workspace)
        result = await deps.platform.ask(
            "tools/call", params, user=context.user, workspace=context.workspace, within_s=within_s
        )
        return _read_answer(result)
    except (ForeignCallError, RejectedError) as error:
        return Answer(f"{ERROR}{error}", FUNCTION_FAILED)


async def list_tools(deps: ForwardingDependencies, execution: str, *, epoch: int) -> Mapping[str, Any]:
    """Return `tools`, the definitions, and for how many seconds (`ttl_s`) and for whom (`is_public`) they hold.

    Raise `StaleError`, `UnavailableError` or `RejectedError`.
    """
    context = (await deps.calls.find_execution(execution, epoch=epoch, now=deps.clock.now())).context
    try:
        _check_served(deps, context.user, context.workspace)
    except ForeignCallError as error:
        raise RejectedError(str(error)) from None
    definitions, cursor, ttl_s, is_public = list[dict[str, Any]](), None, TTL_MAX_S, True
    for _ in range(PAGES_MAX):
        params: dict[str, Any] = {} if cursor is None else {"cursor": cursor}
        result = await deps.platform.ask("tools/list", params, user=context.user, workspace=context.workspace)
        definitions += [_read_definition(tool) for tool in _read_list(result, "tools")]
        ttl_ms = result.get("ttlMs", 0)
        ttl_s = min(ttl_s, max(0.0, ttl_ms / 1_000)) if isinstance(ttl_ms, int | float) else 0.0
        is_public = is_public and result.get("cacheScope") == "public"
        cursor = result.get("nextCursor")
        if cursor is None:
            return {"tools": definitions, "ttl_s": ttl_s, "is_public": is_public}
    raise RejectedError(f"the platform lists more than {PAGES_MAX} pages of tools")


def write_answer(answer: Answer) -> dict[str, Any]:
    """Return the answer as the orchestrator reads it."""
    return asdict(answer)


def _check_served(deps: ForwardingDependencies, user: str, workspace: str) -> None:
    """Raise `ForeignCallError` where the environment names another user or workspace (S4-20)."""
    if deps.user not in ("", user):
        raise ForeignCallError("this runtime makes calls of the platform's tools for another user")
    if deps.workspace not in ("", workspace):
        raise ForeignCallError("this runtime makes calls of the platform's tools in another workspace")


def _read_answer(result: Mapping[str, Any]) -> Answer:
    """Return the texts of a tool's result, and the code where it failed. Raise `RejectedError` for another shape."""
    texts = [block.get("text") for block in _read_list(result, "content") if block.get("type") == "text"]
    if not all(isinstance(text, str) for text in texts):
        raise RejectedError("the platform's result has a text that is none")
    meta = result.get("_meta")
    code = meta.get(CODE_META) if isinstance(meta, Mapping) else None
    failed = result.get("isError") is True
    return Answer("\n".join(map(str, texts)), (code if isinstance(code, str) else FUNCTION_FAILED) if failed else None)


def _read_definition(tool: Mapping[str, Any]) -> dict[str, Any]:
    name, schema, description = tool.get("name"), tool.get("inputSchema"), tool.get("description", "")
    if not isinstance(name, str) or not isinstance(schema, Mapping) or not isinstance(description, str):
        raise RejectedError("the platform lists a tool without a name or a schema")
    return {"name": name, "description": description, "input_schema": dict(schema)}


def _read_list(result: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    items = result.get(name)
    if not isinstance(items, list) or not all(isinstance(item, Mapping) for item in items):
        raise RejectedError(f"the platform's result has no {name}")
    return items
