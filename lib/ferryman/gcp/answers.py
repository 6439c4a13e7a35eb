"""Calls that have answered with more than is shown, in Firestore: their overflows, until each is a file."""

from __future__ import annotations

from datetime import datetime

from ferryman.domain.calls.call import Ticket, ToolCallResult
from ferryman.domain.executions import lease as rules
from ferryman.domain.executions.execution import Execution
from ferryman.domain.files.kept import Overflow
from ferryman.domain.files.quota import FileQuota, close_write
from ferryman.domain.files.writes import ClosedWrite
from ferryman.domain.stale import StaleError
from ferryman.gcp import documents
from ferryman.gcp.execution_documents import read_execution
from ferryman.gcp.store import FirestoreStore, Transaction, in_transaction, read_together


class FirestoreAnswers(FirestoreStore):
    """The part of `ports.Executions` for calls that have answered."""

    async def read_overflow(self, execution: str, seq: int) -> Overflow | None:
        return documents.read_or_none(Overflow, await self._places.locate_overflow(execution, seq).get())

    @in_transaction
    async def settle_answered(
        self,
        transaction: Transaction,
        execution: Execution,
        seq: int,
        result: ToolCallResult,
        write: ClosedWrite | None,
        *,
        now: datetime,
    ) -> Ticket:
        places, workspace = self._places, execution.context.workspace
        execution_at, ticket_at = places.locate_execution(execution.id), places.locate_call(execution.id, seq)
        quota_at = places.locate_file_quota(workspace)
        read = await read_together(self._client, [execution_at, ticket_at, quota_at], transaction)
        current = read_execution(read[execution_at.path])
        if current is None:
            raise StaleError("there is no such execution")
        rules.check_fence(current, execution, now)
        ticket = documents.read(Ticket, read[ticket_at.path].to_dict())
        if not ticket.is_answered:
            return ticket
        settled = rules.settle_ticket(ticket, result, now=now, in_doubt=False)
        transaction.update(ticket_at, documents.write_fields(settled, *rules.RESULT_FIELDS))
        transaction.delete(places.locate_overflow(execution.id, seq))
        before = documents.read_or_none(FileQuota, read[quota_at.path]) or FileQuota(id=workspace)
        after = before if write is None else close_write(before, write.name, write.writes)
        if after is not before:
            transaction.set(quota_at, documents.write(after))
        return settled
