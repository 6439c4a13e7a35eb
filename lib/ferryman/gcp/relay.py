"""Deliveries that the API has the orchestrator make, with what the model writes meanwhile."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

from ferryman.domain.conversations.changes import apply_change
from ferryman.domain.conversations.live import LiveTurn
from ferryman.domain.executions.execution import Execution
from ferryman.gcp.functions import FunctionClient
from ferryman.ports.errors import UnavailableError

STREAMING_FUNCTION = "orchestrator"
"""The function that delivers executions."""

STREAM_PATH = "/stream"


class RemoteRelay:
    """`ports.DeliveryRelay`: POST to the orchestrator's route, whose answer is read line by line."""

    def __init__(self, functions: FunctionClient) -> None:
        self._functions = functions

    async def deliver(self, execution: Execution) -> AsyncIterator[LiveTurn | None]:
        body = {"execution": execution.id, "slice": execution.slice}
        turn: LiveTurn | None = None
        async for line in self._functions.iterate_lines(STREAMING_FUNCTION, STREAM_PATH, body):
            try:
                change = json.loads(line)
                if isinstance(change, dict) and "committed" in change:
                    yield None
                else:
                    turn = apply_change(turn, change)
                    yield turn
            except (ValueError, TypeError, RecursionError):
                raise UnavailableError("the orchestrator sent a line that is none") from None
