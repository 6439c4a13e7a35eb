"""The platform's tools, as `platform_call` lists them: remembered in this process for as long as the server says."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from ferryman.domain.executions.execution import Execution
from ferryman.expiring import ExpiringCache
from ferryman.gcp.functions import FunctionClient
from ferryman.ports.errors import RejectedError

LISTING_FUNCTION, LIST_PATH = "platform_call", "/list"
TTL_MAX_S, PLACES_MAX = 600.0, 256
PUBLIC = ("", "")
"""The place of a list that is the same for everybody."""

Tools = Mapping[str, Mapping[str, Any]]


class RemoteDiscovery:
    """`ports.ToolDiscovery`: POST to the function that signs requests to the platform."""

    def __init__(self, functions: FunctionClient, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._functions = functions
        self._monotonic = monotonic
        self._known: ExpiringCache[tuple[str, str], tuple[float, Tools]] = ExpiringCache(most=PLACES_MAX, life_s=TTL_MAX_S)

    async def list_tools(self, execution: Execution) -> Tools:
        """Return the definitions by name."""
        place = (execution.workspace, execution.context.user)
        for known in map(self._known.get, (PUBLIC, place)):
            if known is not None and self._monotonic() < known[0]:
                return known[1]
        body = {"execution": execution.id, "epoch": execution.epoch}
        try:
            answer = await self._functions.ask(LISTING_FUNCTION, LIST_PATH, body)
            tools = {str(tool["name"]): dict(tool) for tool in answer["tools"]}
            until = self._monotonic() + min(float(answer["ttl_s"]), TTL_MAX_S)
            is_public = answer["is_public"] is True
        except (KeyError, TypeError, ValueError):
            raise RejectedError("the platform's tools cannot be read") from None
        self._known.put(PUBLIC if is_public else place, (until, tools))
        return tools
