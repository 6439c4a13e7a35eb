"""Routed tools: a call of one becomes a call of another tool, chosen by its arguments, before its ticket is written.

From then on it is that tool's call in everything: right, function, policy, fee, counts, repetition, receipts and gate. So a
routed tool gives no right of its own: the task enables the tool that executes its calls, too, and every process that checks a
right checks that one. The ticket has both names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ferryman.domain.calls.call import Ticket, ToolCallResult
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.calls.route import CallRoute
from ferryman.domain.executions.execution import Execution
from ferryman.tools.own_files import load_own_files

ROUTES: Mapping[str, Callable[[Mapping[str, Any]], CallRoute]] = {
    name: module.choose_route for name, module in load_own_files("ferryman.tools.routed").items()
}
"""How each tool finds the route of a call by its arguments; they raise `CallRefusedError`."""


def find_route(name: str, arguments: Mapping[str, Any]) -> CallRoute | None:
    """Return the route of a call of the tool `name`; None where that is no routed tool, or its arguments lead to no other."""
    if name not in ROUTES:
        return None
    try:
        return ROUTES[name](arguments)
    except CallRefusedError:
        return None


async def refuse_unrouted(ticket: Ticket, *, execution: Execution) -> Ticket:  # noqa: ARG001 - a handler's signature
    """Return the ticket of a call that has no route, with the reason as its result; nothing was sent."""
    try:
        route = ROUTES[ticket.tool](ticket.display_arguments)
    except CallRefusedError as refused:
        return replace(ticket, result=ToolCallResult.from_refusal(ticket.tool, refused.refusal))
    raise AssertionError(f"a call that leads to {route.tool} is a call of that tool")
