"""The turn under way of each execution, in Firestore: one document, replaced about once a second while the model writes."""

from __future__ import annotations

from datetime import datetime

from ferryman.domain.conversations.live import LiveTurn
from ferryman.domain.executions import lease as rules
from ferryman.domain.executions.execution import Execution
from ferryman.domain.stale import StaleError
from ferryman.gcp import documents
from ferryman.gcp.execution_documents import read_execution
from ferryman.gcp.retention import Retention
from ferryman.gcp.store import FirestoreStore, Transaction, get_readable, in_transaction


class FirestoreLiveTurns(FirestoreStore):
    """The part of `ports.Executions` for the turn under way."""

    _retention: Retention

    @in_transaction
    async def show(self, transaction: Transaction, execution: Execution, turn: LiveTurn | None, *, now: datetime) -> None:
        snapshot = await get_readable(self._places.locate_execution(execution.id), transaction)
        current = None if snapshot is None else read_execution(snapshot)
        if current is None:
            raise StaleError("there is no such execution")
        rules.check_fence(current, execution, now)
        reference = self._places.locate_live(execution.id)
        if turn is None:
            transaction.delete(reference)
        else:
            transaction.set(reference, {**documents.write(turn), **self._retention.expire_below(execution, now)})

    async def live(self, execution: str) -> LiveTurn | None:
        return documents.read_or_none(LiveTurn, await self._places.locate_live(execution).get())
