"""Tickets in Firestore, as a tool function claims and settles them: one batch read and two writes for a call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from ferryman.domain.calls.call import SETTLING_TIME, Ticket, TicketState, ToolCallResult
from ferryman.domain.executions import lease
from ferryman.domain.executions.execution import Execution
from ferryman.domain.http.request import REQUEST_SECONDS
from ferryman.domain.stale import StaleError
from ferryman.gcp import documents
from ferryman.gcp.execution_documents import read_execution
from ferryman.gcp.firestore import FirestoreClient
from ferryman.gcp.halts import list_switches, read_halt_reason
from ferryman.gcp.store import FirestoreStore, Reference, Snapshot, Transaction, in_transaction, read_together, run_transaction
from ferryman.gcp.tasks import read_versions
from ferryman.ports.tickets import CallRequest, ClaimedCall, TaskState, claim_call


class FirestoreTickets(FirestoreStore):
    """`ports.Tickets`."""

    def __init__(self, clients: FirestoreClient, *, request_s: float = REQUEST_SECONDS) -> None:
        super().__init__(clients)
        self._under_way = timedelta(seconds=request_s) + SETTLING_TIME

    async def claim(self, call_request: CallRequest, *, tool: str, now: datetime) -> ClaimedCall:
        places, owner = self._places, call_request.owner
        execution_at, task_at = places.locate_execution(call_request.execution), places.locate_task(call_request.task)
        ticket_at = places.locate_call(call_request.execution, call_request.seq)

        async def take(transaction: Transaction) -> ClaimedCall:
            references = [execution_at, ticket_at, task_at, *list_switches(places, owner)]
            snapshots = await read_together(self._client, references, transaction)
            current = _check_lease(snapshots[execution_at.path], call_request.epoch, now)
            ticket = documents.read_or_none(Ticket, snapshots[ticket_at.path])
            claimed_call = claim_call(
                call_request,
                current,
                ticket,
                tool=tool,
                task=_read_task(snapshots[task_at.path].to_dict()),
                halt_reason=read_halt_reason(snapshots, places, owner, current.created_at),
                now=now,
                under_way=self._under_way,
            )
            if claimed_call.ticket is not ticket:
                change = documents.write_fields(claimed_call.ticket, *lease.CLAIM_FIELDS)
                transaction.update(ticket_at, change)
            return claimed_call

        transaction = self._client.transaction()
        claimed_call = await run_transaction(transaction, take)
        written: Any = transaction.write_results
        return replace(claimed_call, mark=written[0].update_time) if written else claimed_call

    async def settle(self, claimed_call: ClaimedCall, result: ToolCallResult, *, now: datetime, in_doubt: bool = False) -> None:
        from google.api_core.exceptions import FailedPrecondition

        settled = lease.settle_ticket(claimed_call.ticket, result, now=now, in_doubt=in_doubt)
        change = documents.write_fields(settled, *lease.RESULT_FIELDS)
        try:
            # nobody wrote the ticket since it was claimed: then nothing need be read
            option = self._client.write_option(last_update_time=claimed_call.mark)
            await self._locate_ticket(claimed_call).update(change, option=option)
        except FailedPrecondition:
            await self._update_attempt(claimed_call, change)

    async def release(self, claimed_call: ClaimedCall) -> None:
        change = {"state": TicketState.INTENDED.value, "sent_at": None, "deadline": None}
        await self._update_attempt(claimed_call, change)

    @in_transaction
    async def _update_attempt(self, transaction: Transaction, claimed_call: ClaimedCall, change: Mapping[str, Any]) -> None:
        """Write `change`, unless a later attempt has taken over: what this one learned then changes nothing."""
        ticket_at = self._locate_ticket(claimed_call)
        ticket = documents.read(Ticket, (await ticket_at.get(transaction=transaction)).to_dict())
        if ticket.attempt == claimed_call.ticket.attempt and ticket.state is TicketState.SENT:
            transaction.update(ticket_at, dict(change))

    @in_transaction
    async def cover(
        self, transaction: Transaction, claimed_call: ClaimedCall, before: bytes, after: bytes, *, now: datetime
    ) -> bytes:
        execution_at = self._places.locate_execution(claimed_call.call_request.execution)
        snapshot = await execution_at.get(transaction=transaction)
        stored = _check_lease(snapshot, claimed_call.call_request.epoch, now).coverage
        if stored != before:
            return stored
        transaction.update(execution_at, {"coverage": after})
        return after

    async def scope(self, execution: str, *, epoch: int, now: datetime) -> tuple[Execution, Mapping[str, int]]:
        snapshot = await self._places.locate_execution(execution).get()
        current = _check_lease(snapshot, epoch, now)
        task = await self._places.locate_task(current.task).get()
        return current, read_versions(task.to_dict())

    def _locate_ticket(self, claimed_call: ClaimedCall) -> Reference:
        return self._places.locate_call(claimed_call.call_request.execution, claimed_call.call_request.seq)


def _check_lease(snapshot: Snapshot, epoch: int, now: datetime) -> Execution:
    current = read_execution(snapshot)
    if current is None:
        raise StaleError("there is no such execution")
    return lease.check_epoch(current, epoch, now)


def _read_task(document: dict[str, Any] | None) -> TaskState | None:
    if document is None:
        return None
    name, enabled = str(document.get("name", "")), bool(document.get("enabled", False))
    return TaskState(name=name, enabled=enabled, versions=read_versions(document))
