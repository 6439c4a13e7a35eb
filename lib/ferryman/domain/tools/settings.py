"""Settings of tools: what an agent's calls of one tool are held to, below what the tool and the plan allow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ferryman.domain.stored import LEFT_OUT
from ferryman.domain.tools.correction import FlowCorrection
from ferryman.domain.tools.names import strip_prefix

CALLS_LIMIT = 1_000
"""The most that `calls_max` may be."""

TIMEOUT_LIMIT_S = 600.0
"""The most seconds that `timeout_s` may be, where the tool has no time limit of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSettings:
    """An agent's settings of one tool.

    `calls_max` is how many calls of it an execution may make, `timeout_s` how many seconds each may take; None: as the plan and
    the tool allow. `arguments` are fixed: the model is not shown them in the tool's schema, and cannot change them. `flow` is
    what its owner says against the tool's derived flow signature; None: nothing.
    """

    calls_max: int | None = None
    timeout_s: float | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict, repr=False)
    flow: FlowCorrection | None = field(default=None, metadata=LEFT_OUT)

    def fix_arguments(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of a call with the fixed ones, whatever the call says for these."""
        return {**arguments, **self.arguments}

    def limit_time(self, within_s: float) -> float:
        """Return the seconds that a call may take which is given `within_s`."""
        return within_s if self.timeout_s is None else min(within_s, self.timeout_s)

    def narrow_definition(self, definition: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a tool's definition, in the Messages API's form, without the fixed arguments."""
        if not self.arguments:
            return definition
        schema = dict(definition["input_schema"])
        properties = {name: value for name, value in schema.get("properties", {}).items() if name not in self.arguments}
        schema["properties"] = properties
        if "required" in schema:
            schema["required"] = [name for name in schema["required"] if name not in self.arguments]
        return {**definition, "input_schema": schema}


UNSET = ToolSettings()


def find_settings(settings: Mapping[str, ToolSettings], tool: str) -> ToolSettings:
    """Return the settings of `tool`, under either form of its name; `UNSET` where there are none."""
    if not settings:
        return UNSET
    stripped = strip_prefix(tool)
    return next((value for name, value in settings.items() if strip_prefix(name) == stripped), UNSET)
