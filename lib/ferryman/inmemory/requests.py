"""Requests for runs in memory, which applications write beside the executions."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ferryman.domain.credits.ledger import name_start
from ferryman.domain.executions.execution import Execution, Status
from ferryman.domain.executions.halt import DISABLED
from ferryman.domain.executions.request import REQUEST_FIELDS, build_reused_error, place_refused
from ferryman.inmemory.memory import PlannedStore
from ferryman.ports.errors import TaskDisabledError


class MemoryRequests(PlannedStore):
    """`ports.Requests`."""

    async def find_request(self, execution: str) -> Mapping[str, Any] | None:
        admitted = self._memory.executions.get(execution)
        if admitted is None:
            return self._memory.requests.get(execution)
        return {name: getattr(admitted, name) for name in REQUEST_FIELDS}

    async def admit(self, execution: Execution, *, most: int) -> None:
        memory = self._memory
        if execution.id in memory.executions:
            return  # another delivery was first
        if execution.id not in memory.requests:
            raise KeyError(execution.id)
        task = memory.tasks.get(execution.task)
        if task is None or not task.enabled:
            raise TaskDisabledError(DISABLED)
        if name_start(execution.id) in memory.entries or memory.receipts.get(execution.id):
            raise build_reused_error()
        memory.occupancy[execution.owner] = self._occupied(execution.owner).enqueue(execution, most=most)
        memory.executions[execution.id] = self._keep(execution)
        del memory.requests[execution.id]

    async def refuse(self, execution: str, error: str, accepted: Mapping[str, Any], *, now: datetime) -> bool:
        if execution in self._memory.executions:
            return False  # another delivery admitted it
        if self._memory.requests.pop(execution, None) is not None:
            ended = {"status": Status.FAILED.value, "error": error, "created_at": now, "completed_at": now}
            placed = place_refused(accepted, self._memory.tasks.get(accepted.get("task", "")))
            self._memory.refused[execution] = {**placed, **ended}
        return True
