"""Tickets in Firestore, as a tool function claims and settles them: one batch read and two writes for a call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from ferryman.domain.calls.call import SETTLING_TIME, Ticket, TicketState, ToolCallResult, claim_ticket
from ferryman.domain.executions import lease
from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.http.request import REQUEST_SECONDS
from ferryman.domain.stale import StaleError
from ferryman.gcp import documents, places
from ferryman.gcp.faults import translate_errors
from ferryman.gcp.firestore import FirestoreClient
from ferryman.gcp.halts import find_halt_reason, get_together, list_switches
from ferryman.gcp.tasks import read_versions
from ferryman.gcp.transactions import transact
from ferryman.ports.tickets import CallRequest, ClaimedCall

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncTransaction


@translate_errors
class FirestoreTickets:
    """`ports.Tickets`."""

    def __init__(self, clients: FirestoreClient, *, request_s: float = REQUEST_SECONDS) -> None:
        self._clients = clients
        self._under_way = timedelta(seconds=request_s) + SETTLING_TIME

    async def claim(self, call_request: CallRequest, *, tool: str, now: datetime) -> ClaimedCall:
        client = self._clients.firestore()
        execution_at, ticket_at, task_at = (
            places.locate_execution(client, call_request.execution),
            places.locate_call(client, call_request.execution, call_request.seq),
            places.locate_task(client, call_request.task),
        )

        async def take(transaction: AsyncTransaction) -> ClaimedCall:
            read = [execution_at, ticket_at, task_at, *list_switches(client, call_request.owner)]
            found = await get_together(client, read, transaction)
            current = _read_held(found[execution_at.path].to_dict(), call_request.epoch, now)
            if (current.task, current.owner) != (call_request.task, call_request.owner) or not found[ticket_at.path].exists:
                raise StaleError("there is no such call")
            task = found[task_at.path].to_dict()
            policy = _check_policy(current, task)
            ticket = documents.read(Ticket, found[ticket_at.path].to_dict())
            stopped = current.cancel_requested or find_halt_reason(found, client, current.owner, current.created_at) is not None
            taken = claim_ticket(
                ticket, tool=tool, epoch=call_request.epoch, stopped=stopped, now=now, under_way=self._under_way
            )
            if taken is not ticket:
                transaction.update(ticket_at, documents.write_fields(taken, "state", "attempt", "sent_at", "deadline"))
            again = ticket.state is TicketState.SENT
            known = read_versions(task)
            created = current.created_at
            name = str((task or {}).get("name", ""))
            return ClaimedCall(
                call_request=call_request,
                ticket=taken,
                policy=policy,
                versions=known,
                created=created,
                task_name=name,
                again=again,
                coverage=current.coverage,
            )

        transaction = client.transaction()
        claimed_call = await transact(transaction, take)
        written: Any = transaction.write_results
        return replace(claimed_call, mark=written[0].update_time) if written else claimed_call

    async def settle(self, claimed_call: ClaimedCall, result: ToolCallResult, *, now: datetime, in_doubt: bool = False) -> None:
        from google.api_core.exceptions import FailedPrecondition

        client = self._clients.firestore()
        settled = replace(claimed_call.ticket, state=TicketState.SETTLED, settled_at=now, result=result, in_doubt=in_doubt)
        change = documents.write_fields(settled, "state", "settled_at", "result", "in_doubt")
        try:
            # nobody wrote the ticket since it was claimed: then nothing need be read
            option = client.write_option(last_update_time=claimed_call.mark)
            await places.locate_call(client, claimed_call.call_request.execution, claimed_call.call_request.seq).update(
                change, option=option
            )
        except FailedPrecondition:
            await self._under(claimed_call, change)

    async def release(self, claimed_call: ClaimedCall) -> None:
        await self._under(claimed_call, {"state": TicketState.INTENDED.value, "sent_at": None, "deadline": None})

    async def _under(self, claimed_call: ClaimedCall, change: Mapping[str, Any]) -> None:
        """Write `change`, unless a later attempt has taken over: what this one learned then changes nothing."""
        client = self._clients.firestore()
        ticket_at = places.locate_call(client, claimed_call.call_request.execution, claimed_call.call_request.seq)

        async def store(transaction: AsyncTransaction) -> None:
            ticket = documents.read(Ticket, (await ticket_at.get(transaction=transaction)).to_dict())
            if ticket.attempt == claimed_call.ticket.attempt and ticket.state is TicketState.SENT:
                transaction.update(ticket_at, dict(change))

        await transact(client.transaction(), store)

    async def cover(self, claimed_call: ClaimedCall, before: bytes, after: bytes, *, now: datetime) -> bytes:
        client = self._clients.firestore()
        execution_at = places.locate_execution(client, claimed_call.call_request.execution)

        async def store(transaction: AsyncTransaction) -> bytes:
            document = (await execution_at.get(transaction=transaction)).to_dict()
            stored = _read_held(document, claimed_call.call_request.epoch, now).coverage
            if stored != before:
                return stored
            transaction.update(execution_at, {"coverage": after})
            return after

        return await transact(client.transaction(), store)

    async def scope(self, execution: str, *, epoch: int, now: datetime) -> tuple[Execution, Mapping[str, int]]:
        client = self._clients.firestore()
        snapshot = await places.locate_execution(client, execution).get()
        current = _read_held(snapshot.to_dict(), epoch, now)
        task = await places.locate_task(client, current.task).get()
        return current, read_versions(task.to_dict())


def _read_held(document: dict[str, Any] | None, epoch: int, now: datetime) -> Execution:
    if document is None:
        raise StaleError("there is no such execution")
    return lease.check_epoch(documents.read(Execution, document), epoch, now)


def _check_policy(execution: Execution, task: dict[str, Any] | None) -> ExecutionPolicy:
    if execution.policy is None:
        raise StaleError("the execution has not been opened")
    if task is None or not task.get("enabled", False):
        raise StaleError("the task was disabled or deleted")
    return execution.policy
