"""Routes: which tool executes a call of a tool that leaves its calls to others, and with which arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ferryman.domain.calls.call import ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRoute:
    """The `tool` that executes a call, and how the call's arguments become those of that tool.

    `renamed` are arguments that have another name there, `left_out` those that it does not have, and `fixed` values that
    replace the model's. An argument that is null is none.
    """

    tool: str
    renamed: Mapping[str, str] = field(default_factory=dict)
    left_out: frozenset[str] = frozenset()
    fixed: Mapping[str, Any] = field(default_factory=dict)

    def apply(self, call: ToolCall) -> ToolCall:
        """Return `call` as one of `tool`."""
        return replace(call, name=self.tool, arguments=self.convert(call.arguments), called_as=call.name)

    def convert(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of the call as those of `tool`; the values themselves stay as they are."""
        passed_on = {name: value for name, value in arguments.items() if value is not None and name not in self.left_out}
        return {self.renamed.get(name, name): value for name, value in passed_on.items()} | dict(self.fixed)
