"""Calls under way, read from Firestore and never written: what a function goes by that is told only which call it is."""

from __future__ import annotations

from datetime import datetime

from ferryman.domain.calls.call import Ticket
from ferryman.domain.executions.execution import Execution
from ferryman.domain.stale import StaleError
from ferryman.gcp import documents
from ferryman.gcp.execution_documents import ADMITTED, read_execution
from ferryman.gcp.store import FirestoreStore, Snapshot, read_together
from ferryman.ports.platform import RunningCall, check_call, check_running

EXECUTION_FIELDS = (
    *("id", "task", "owner", "workspace", "agent", "person", "conversation", "created_at"),
    *("status", "lease", "policy", "cancel_requested"),
    ADMITTED,
)
"""What is read of the execution: not the results of its earlier calls."""

READ_FIELDS = tuple(dict.fromkeys((*EXECUTION_FIELDS, *documents.name_fields(Ticket))))


class FirestoreRunningCalls(FirestoreStore):
    """`ports.RunningCalls`."""

    async def get(self, execution: str, seq: int, *, epoch: int, now: datetime) -> RunningCall:
        execution_at, ticket_at = self._places.locate_execution(execution), self._places.locate_call(execution, seq)
        read = await read_together(self._client, [execution_at, ticket_at], names=READ_FIELDS)
        current = _check_running(read[execution_at.path], epoch, now)
        ticket = documents.read_or_none(Ticket, read[ticket_at.path])
        return RunningCall(execution=current, ticket=check_call(ticket, epoch=epoch, now=now))

    async def find_execution(self, execution: str, *, epoch: int, now: datetime) -> Execution:
        execution_at = self._places.locate_execution(execution)
        read = await read_together(self._client, [execution_at], names=EXECUTION_FIELDS)
        return _check_running(read[execution_at.path], epoch, now)


def _check_running(snapshot: Snapshot, epoch: int, now: datetime) -> Execution:
    current = read_execution(snapshot) if snapshot.exists else None
    if current is None:
        raise StaleError("there is no such execution")
    return check_running(current, epoch, now)
