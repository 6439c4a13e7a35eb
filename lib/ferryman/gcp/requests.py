"""Requests for runs in Firestore: documents that applications write, each of which is answered once, in its own place."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ferryman.domain.credits.ledger import name_start
from ferryman.domain.executions.execution import Execution, Status
from ferryman.domain.executions.halt import DISABLED
from ferryman.domain.executions.request import build_reused_error, place_refused
from ferryman.domain.executions.retention import freeze_retention
from ferryman.domain.tasks.task import TaskSummary
from ferryman.gcp import documents, execution_documents, occupancy
from ferryman.gcp.execution_documents import read_execution, write_execution
from ferryman.gcp.firestore import FirestoreClient
from ferryman.gcp.retention import Retention, read_workspace_days
from ferryman.gcp.store import FirestoreStore, Transaction, get_readable, in_transaction, read_together
from ferryman.ports.errors import TaskDisabledError


class FirestoreRequests(FirestoreStore):
    """`ports.Requests`."""

    def __init__(self, clients: FirestoreClient, retention: Retention | None = None) -> None:
        super().__init__(clients)
        self._retention = retention or Retention()

    async def find_request(self, execution: str) -> Mapping[str, Any] | None:
        return await execution_documents.read_request(self._places.locate_execution(execution))

    @in_transaction
    async def admit(self, transaction: Transaction, execution: Execution, *, most: int) -> None:
        places = self._places
        reference, task = places.locate_execution(execution.id), places.locate_task(execution.task)
        occupancy_at, workspace_at = places.locate_occupancy(execution.owner), places.locate_workspace(execution.workspace)
        # what an earlier run of this name has left: its first ledger entry, or its first receipt where it was never opened
        traces = [places.locate_entry(name_start(execution.id)), places.locate_receipts(execution.id, 0)]
        snapshot = await get_readable(reference, transaction)
        if snapshot is not None and not snapshot.exists:
            raise KeyError(execution.id)
        snapshots = await read_together(self._client, [task, occupancy_at, workspace_at, *traces], transaction)
        occupied = occupancy.read_occupancy(snapshots[occupancy_at.path])
        stored = None if snapshot is None else read_execution(snapshot)
        if stored is not None and occupied.admits(stored):
            return  # another delivery was first
        if not (snapshots[task.path].to_dict() or {}).get("enabled", False):
            raise TaskDisabledError(DISABLED)
        if any(snapshots[trace.path].exists for trace in traces):
            raise build_reused_error()
        occupancy.store_occupancy(transaction, places, execution.owner, occupied.enqueue(execution, most=most))
        stored = freeze_retention(execution, read_workspace_days(snapshots[workspace_at.path]))
        transaction.set(reference, write_execution(stored))

    @in_transaction
    async def refuse(
        self, transaction: Transaction, execution: str, error: str, accepted: Mapping[str, Any], *, now: datetime
    ) -> bool:
        reference = self._places.locate_execution(execution)
        snapshot = await get_readable(reference, transaction)
        if snapshot is not None and not snapshot.exists:
            return True
        stored = None if snapshot is None else read_execution(snapshot)
        if stored is not None:
            occupied_at = self._places.locate_occupancy(stored.owner)
            if occupancy.read_occupancy(await occupied_at.get(transaction=transaction)).admits(stored):
                return False  # another delivery admitted it
        task = await self._read_task(transaction, accepted.get("task"))
        days = None if task is None else await self._read_days(transaction, task.workspace)
        ended = {"status": Status.FAILED.value, "error": error, "created_at": now, "completed_at": now}
        document = {**place_refused(accepted, task), **ended, execution_documents.ADMITTED: False}
        transaction.set(reference, document | self._retention.expire(days, now))
        return True

    async def _read_task(self, transaction: Transaction, task: str | None) -> TaskSummary | None:
        if task is None:
            return None
        try:
            return documents.read_or_none(TaskSummary, await self._places.locate_task(task).get(transaction=transaction))
        except documents.UnreadableDocumentError:
            return None

    async def _read_days(self, transaction: Transaction, workspace: str) -> int | None:
        """Return how many days `workspace` keeps its executions; None: as the deployment."""
        return read_workspace_days(await self._places.locate_workspace(workspace).get(transaction=transaction))
