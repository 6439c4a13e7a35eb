"""Discovery: which of the enabled tools the platform's own server has (S4-12). No tool of it is known to the loop by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ferryman.catalog.tools import TOOLS, is_of_platform
from ferryman.domain.executions.execution import Execution
from ferryman.loop.dependencies import LoopDependencies
from ferryman.ports.errors import RejectedError, UnavailableError


async def discover_tools(
    deps: LoopDependencies, execution: Execution, enabled: Iterable[str]
) -> Mapping[str, Mapping[str, Any]]:
    """Return the definitions of those of the `enabled` tools that the platform has, by name; it is asked only where any is
    enabled.

    What cannot be listed is not offered, and the log says so. The catalog's own words about a tool come before the server's.
    """
    names = [name for name in enabled if is_of_platform(name)]
    if not names:
        return {}
    listed: Mapping[str, Mapping[str, Any]] = {}
    error = "this deployment has no platform"
    if deps.discovery is not None:
        try:
            listed, error = await deps.discovery.list_tools(execution), "the platform has no such tool"
        except (UnavailableError, RejectedError) as fault:
            error = str(fault)
    if missing := [name for name in names if name not in listed]:
        deps.log("tools.not_listed", execution=execution.id, tools=missing, error=error, severity="WARNING")
    return {name: TOOLS[name].to_definition() if name in TOOLS else dict(listed[name]) for name in names if name in listed}
