"""Tickets in Firestore, as a tool function claims and settles them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from ferryman.domain.call import Ticket, TicketState, ToolCallResult
from ferryman.domain.execution import Execution, Status
from ferryman.domain.http import REQUEST_SECONDS
from ferryman.domain.remit import Remit
from ferryman.gcp import documents, places
from ferryman.gcp.clients import Clients
from ferryman.gcp.faults import translated
from ferryman.gcp.tasks import versions
from ferryman.ports import Errand, Stale

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncTransaction

MARGIN = timedelta(seconds=5)
"""How long past its own deadline a call is still taken to be under way: it has to be settled, too."""


@translated
class FirestoreTickets:
    """`ports.Tickets`."""

    def __init__(self, clients: Clients, *, request_s: float = REQUEST_SECONDS) -> None:
        self._clients = clients
        self._under_way = timedelta(seconds=request_s) + MARGIN

    async def claim(self, execution: str, seq: int, *, epoch: int, tool: str, now: datetime) -> Errand:
        from google.cloud.firestore import async_transactional

        client = self._clients.firestore()

        @async_transactional
        async def take(transaction: AsyncTransaction) -> Errand:
            ticket_at = places.call(client, execution, seq)
            found = {
                snapshot.reference.path: snapshot
                async for snapshot in client.get_all([places.execution(client, execution), ticket_at], transaction=transaction)
            }
            current = _held(found[places.execution(client, execution).path].to_dict(), epoch, now)
            snapshot = found[ticket_at.path]
            if not snapshot.exists:
                raise Stale("there is no such call")
            ticket = documents.read(Ticket, snapshot.to_dict())
            task = await places.task(client, current.task).get(transaction=transaction)
            remit = _allowed(current, task.to_dict())
            if ticket.tool != tool:
                raise Stale("the call is another tool's")
            if ticket.state is not TicketState.SETTLED:
                if ticket.state is TicketState.SENT or ticket.epoch != epoch:
                    raise Stale("the call is already on its way")
                if current.cancel_requested:
                    raise Stale("the execution was cancelled")
                ticket = replace(
                    ticket, state=TicketState.SENT, attempt=ticket.attempt + 1, sent_at=now, deadline=now + self._under_way
                )
                transaction.update(ticket_at, documents.part(ticket, "state", "attempt", "sent_at", "deadline"))
            return Errand(ticket=ticket, remit=remit, versions=versions(task.to_dict()))

        return await take(client.transaction())

    async def settle(self, execution: str, seq: int, *, attempt: int, result: ToolCallResult, now: datetime) -> None:
        from google.cloud.firestore import async_transactional

        client = self._clients.firestore()
        ticket_at = places.call(client, execution, seq)

        @async_transactional
        async def store(transaction: AsyncTransaction) -> None:
            ticket = documents.read(Ticket, (await ticket_at.get(transaction=transaction)).to_dict())
            if ticket.attempt != attempt or ticket.state is not TicketState.SENT:
                return  # a later attempt has taken over: what this one learned changes nothing
            settled = replace(ticket, state=TicketState.SETTLED, settled_at=now, result=result)
            transaction.update(ticket_at, documents.part(settled, "state", "settled_at", "result"))

        await store(client.transaction())

    async def release(self, execution: str, seq: int, *, attempt: int) -> None:
        from google.cloud.firestore import async_transactional

        client = self._clients.firestore()
        ticket_at = places.call(client, execution, seq)

        @async_transactional
        async def store(transaction: AsyncTransaction) -> None:
            ticket = documents.read(Ticket, (await ticket_at.get(transaction=transaction)).to_dict())
            if ticket.attempt == attempt and ticket.state is TicketState.SENT:
                transaction.update(ticket_at, {"state": TicketState.INTENDED.value, "sent_at": None, "deadline": None})

        await store(client.transaction())

    async def scope(self, execution: str, *, epoch: int, now: datetime) -> tuple[str, Mapping[str, int]]:
        client = self._clients.firestore()
        snapshot = await places.execution(client, execution).get()
        current = _held(snapshot.to_dict(), epoch, now)
        task = await places.task(client, current.task).get()
        return current.task, versions(task.to_dict())


def _held(document: dict[str, Any] | None, epoch: int, now: datetime) -> Execution:
    if document is None:
        raise Stale("there is no such execution")
    execution = documents.read(Execution, document)
    lease = execution.lease
    if execution.status is not Status.RUNNING or lease is None or lease.epoch != epoch or lease.expires_at <= now:
        raise Stale("the lease has moved on or run out")
    return execution


def _allowed(execution: Execution, task: dict[str, Any] | None) -> Remit:
    if execution.remit is None:
        raise Stale("the execution has not been opened")
    if task is None or not task.get("enabled", False):
        raise Stale("the task was disabled or deleted")
    return execution.remit
