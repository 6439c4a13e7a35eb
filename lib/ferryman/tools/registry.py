"""The registry: which tools there are, what the model is shown of them, and how a call of it becomes a result."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ferryman.domain import refusal
from ferryman.domain.call import ToolCall, ToolCallResult
from ferryman.domain.refusal import Refused
from ferryman.domain.tool import Tool
from ferryman.tools.builtin import TOOLS
from ferryman.tools.custom.definitions import CUSTOM

Context = TypeVar("Context")
Handler = Callable[[ToolCall, Context], Awaitable[ToolCallResult]]
"""The async function that carries out a call (S0-102); the context is whatever the wiring hands through."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration(Generic[Context]):
    """One registered tool: its definition (name, description, schema, requires) and its handler (S0-101 … S0-105)."""

    tool: Tool
    handler: Handler[Context]


class ToolRegistry(Generic[Context]):
    """The tools of one process, registered at its start (S0-100)."""

    def __init__(self, handler: Handler[Context]) -> None:
        """Register the built-in tools, each with `handler`, which also carries out the calls of declared ones."""
        self._handler = handler
        self._registered: dict[str, Registration[Context]] = {}
        self._register_builtins(handler)

    def _register_builtins(self, handler: Handler[Context]) -> None:
        for tool in (*TOOLS, *CUSTOM):
            self.register(tool, handler)

    def register(self, tool: Tool, handler: Handler[Context]) -> None:
        """Add `tool`. Raises ValueError when its name is taken (S0-107)."""
        if tool.name in self._registered:
            raise ValueError(f"tool {tool.name!r} is registered twice")
        self._registered[tool.name] = Registration(tool=tool, handler=handler)

    def get_definitions(self, enabled: Collection[str], *, services: Collection[str] = ()) -> list[dict[str, Any]]:
        """The definitions of the tools in `enabled`, in the Messages API's form and in registry order (S0-106).

        A name nobody registered is left out, and so is a tool that requires a service without a credential among `services`.
        """
        return [
            each.tool.definition()
            for each in self._registered.values()
            if each.tool.name in enabled and (each.tool.requires is None or each.tool.requires in services)
        ]

    def find(self, name: str, enabled: Collection[str]) -> Tool:
        """The tool a call names, or `Refused` when there is none (S0-139) or the task did not enable it (S0-3)."""
        registered = self._registered.get(name)
        if registered is None and name in enabled:
            return Tool(name=name, description="", schema={})  # a declared one: whoever carries it knows it
        if registered is None:
            raise Refused(refusal.unknown_tool(name))
        if name not in enabled:
            raise Refused(refusal.tool_not_enabled(name))
        return registered.tool

    async def execute(
        self,
        call: ToolCall,
        context: Context,
        *,
        enabled: Collection[str],
        admit: Callable[[Tool], None],
    ) -> ToolCallResult:
        """Carry out `call`: known, enabled, admitted by `admit` (the limits; raises `Refused`), then handled.

        A refusal becomes a result like any other; every call yields exactly one (S0-124).
        """
        try:
            admit(self.find(call.name, enabled))
        except Refused as refused:
            return ToolCallResult.refused(call.name, refused.refusal)
        registered = self._registered.get(call.name)
        return await (registered.handler if registered else self._handler)(call, context)


def names(tools: Iterable[Tool] = TOOLS) -> tuple[str, ...]:
    """The names of `tools`."""
    return tuple(tool.name for tool in tools)


def schemas(tools: Iterable[Tool] = TOOLS) -> Mapping[str, Mapping[str, Any]]:
    """The input schemas of `tools` by name."""
    return {tool.name: tool.schema for tool in tools}
