"""The registry: which tools there are, how the model is shown them, and which handler executes a call."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, Protocol

from ferryman.catalog.tools import TOOLS, find_tool, is_listed
from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import Ticket, ToolCallResult
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.calls.route import CallRoute
from ferryman.domain.calls.sub_calls import SubCalls
from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.executions.postponement import Postponement
from ferryman.domain.tools.tool import Tool
from ferryman.tools.routed import ROUTES, find_route, refuse_unrouted


class Handler(Protocol):
    """The async function that executes a call (S0-102).

    It returns the ticket as it settled, or with a result that is yet to be stored, or when to come back, or what calls have to
    settle before. Where it asks for calls it has not sent anything yet, and the ticket is not claimed.
    """

    async def __call__(self, ticket: Ticket, *, execution: Execution) -> Ticket | Postponement | SubCalls: ...


class ToolRegistry:
    """The tools of one process by name, registered at its start (S0-100), each with its definition (S0-101 … S0-105)."""

    def __init__(
        self, handler: Handler, kinds: Mapping[str, Handler] | None = None, *, offered: Iterable[Tool] | None = None
    ) -> None:
        """Register the built-in tools, or those of them that are `offered`, each with the handler of its kind in `kinds`, or
        with `handler`.

        `handler` executes the calls of declared tools, too.
        """
        self._handler = handler
        self._kinds = kinds or {}
        self._handlers: dict[str, Handler] = {}
        self._tools: dict[str, Tool] = {}
        for tool in TOOLS.values() if offered is None else offered:
            routed = refuse_unrouted if tool.name in ROUTES else handler
            self.register(tool, (kinds or {}).get(tool.kind, routed))

    def register(self, tool: Tool, handler: Handler) -> None:
        """Add `tool`. Raise ValueError when its name is registered already (S0-107)."""
        if tool.name in self._tools:
            raise ValueError(f"tool {tool.name!r} is registered twice")
        self._tools[tool.name] = tool
        self._handlers[tool.name] = handler

    def get_definitions(self, enabled: Collection[str], *, services: Collection[str] = ()) -> list[dict[str, Any]]:
        """Return the definitions of the tools in `enabled`, in the Messages API's form and in registry order (S0-106).

        Names that are not registered are omitted, and so are tools that require a service without a credential in `services`.
        """
        return [
            tool.to_definition()
            for tool in self._tools.values()
            if tool.name in enabled and (tool.requires is None or tool.requires in services)
        ]

    def has_tool(self, name: str) -> bool:
        """Tell whether a built-in tool is registered."""
        return name in self._tools

    def find_tool(self, name: str, policy: ExecutionPolicy) -> Tool:
        """Return the tool of this name.

        Raise `CallRefusedError` when there is none (S0-139), when it is not implemented (S4-7), the task has not enabled it
        (S0-3), or agent, workspace or plan do not allow it (S4-95).
        """
        tool = self._tools.get(name)
        if name in policy.enabled and (tool is not None or name not in TOOLS):
            return tool or find_tool(name)  # a declared tool: the function that executes it knows it
        if tool is None and is_listed(name):
            raise CallRefusedError(refusal.refuse_unimplemented_tool(name))
        if tool is None and not policy.limits.find_taking_levels(name):
            raise CallRefusedError(refusal.refuse_unknown_tool(name))
        raise CallRefusedError(policy.refuse_tool(name))

    def find_route(self, name: str, arguments: Mapping[str, Any], enabled: Collection[str]) -> CallRoute | None:
        """Return which tool executes a call of the tool `name` by its `arguments`, as they are shown.

        None where that one does itself, where the task has not enabled it, or where the arguments lead to no tool: then it is
        refused in its own name.
        """
        return find_route(name, arguments) if name in enabled else None

    async def execute(
        self, ticket: Ticket, *, execution: Execution, admit: Callable[[Tool], None]
    ) -> Ticket | Postponement | SubCalls:
        """Execute the call of `ticket` if its tool is known and enabled, and `admit` (the limits) does not refuse it.

        Return the ticket with its result: settled by the handler, or not settled where the call was refused. Every call gets
        exactly one result (S0-124). `admit` raises `CallRefusedError`; what the handler raises passes through.
        """
        assert execution.policy is not None, "an opened execution has a policy"
        try:
            admit(self.find_tool(ticket.tool, execution.policy))
        except CallRefusedError as refused:
            return replace(ticket, result=ToolCallResult.from_refusal(ticket.tool, refused.refusal))
        kind = find_tool(ticket.tool).kind  # of a tool that no catalog lists, too
        handle = self._handlers.get(ticket.tool) or self._kinds.get(kind, self._handler)
        return await handle(ticket, execution=execution)
