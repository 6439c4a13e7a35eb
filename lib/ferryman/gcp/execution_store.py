"""Executions and the documents that are written with them: reading and writing, in transactions of any purpose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ferryman.domain.credits.ledger import LedgerEntry
from ferryman.domain.executions.execution import Execution
from ferryman.gcp import documents, turns
from ferryman.gcp.execution_documents import read_execution
from ferryman.gcp.retention import Retention
from ferryman.gcp.store import FirestoreStore, Transaction, get_readable
from ferryman.ports.errors import NotAdmittedError


class FirestoreExecutionStore(FirestoreStore):
    """The steps that transactions on executions share."""

    _retention: Retention

    def _update(
        self, transaction: Transaction, execution: Execution, fields: Sequence[str], besides: Mapping[str, Any] | None = None
    ) -> None:
        document = documents.write_fields(execution, *fields)
        transaction.update(self._places.locate_execution(execution.id), {**document, **(besides or {})})

    def _create_entry(self, transaction: Transaction, entry: LedgerEntry | None) -> None:
        if entry is not None:
            transaction.create(*turns.place_entry(self._places, entry))

    def _create(self, transaction: Transaction, created: turns.Created) -> None:
        """Write new documents in a transaction, which fails where one of them exists."""
        for reference, document in created:
            transaction.create(reference, document)

    async def _read(self, transaction: Transaction, execution: str) -> Execution:
        """Return the execution. Raise KeyError where there is no document, `NotAdmittedError` for an application's."""
        snapshot = await get_readable(self._places.locate_execution(execution), transaction)
        if snapshot is not None and not snapshot.exists:
            raise KeyError(execution)
        current = None if snapshot is None else read_execution(snapshot)
        if current is None:
            raise NotAdmittedError(execution)
        return current
