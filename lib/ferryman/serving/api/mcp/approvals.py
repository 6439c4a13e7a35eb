"""Approvals at /mcp: a link to the page where a person decides. Nothing that a client sends decides anything.

A client that shows links gets one as a request for input, with a state to come back with. What it answers is not even read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.composition.api import ApiDependencies
from ferryman.domain.executions.execution import Execution
from ferryman.ports.keys import KeyPurpose
from ferryman.serving.api.errors import NotFoundError
from ferryman.serving.api.mcp.caller import get_caller
from ferryman.serving.api.mcp.outcome import build_link
from ferryman.serving.mcp.exchange import McpExchange
from ferryman.serving.mcp.results import InputRequired
from ferryman.serving.mcp.states import sign_state, verify_state

MESSAGE = "A person has to look at this call, and approve or deny it, before it is made."


def shows_links(exchange: McpExchange) -> bool:
    """Tell whether the client opens a page that it is asked to open, and comes back with a state."""
    return exchange.is_modern and exchange.declares("elicitation", "url")


def build_requests(execution: Execution, url: str) -> dict[str, Mapping[str, Any]]:
    """Return the request for input of an execution that waits for a person: its key is unique to what is decided."""
    params = {"mode": "url", "message": MESSAGE, "url": build_link(url, execution.waiting_for)}
    return {execution.waiting_for: {"method": "elicitation/create", "params": params}}


async def require_person(deps: ApiDependencies, exchange: McpExchange, execution: Execution) -> InputRequired:
    """Return that a person has to decide, with the state that leads back to this execution."""
    state = sign_state(exchange, {"execution": execution.id}, keys=await list_keys(deps), now=deps.clock.now())
    return InputRequired(build_requests(execution, get_caller(exchange).url), state)


async def find_continued(deps: ApiDependencies, exchange: McpExchange) -> Execution | None:
    """Return the execution that a request goes on with by its state; None for a request without one.

    Raise `McpError` with -32602 for a state that is not one of this caller and request, and 404 where it is gone.
    """
    if exchange.request_state is None:
        return None
    value = verify_state(exchange, keys=await list_keys(deps), now=deps.clock.now())
    execution = None if value is None else await deps.executions.get(value["execution"])
    if execution is None or not get_caller(exchange).caller.sees(execution):
        raise NotFoundError("execution")
    return execution


async def list_keys(deps: ApiDependencies) -> list[bytes]:
    """Return the keys of states and sessions, the one that signs first. Raise `UnavailableError`."""
    return list((await deps.purpose_keys.list(KeyPurpose.MCP)).values())
