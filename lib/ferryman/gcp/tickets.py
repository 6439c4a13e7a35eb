"""Tickets in Firestore, as a tool function claims and settles them: one batch read and two writes for a call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from ferryman.domain import lease
from ferryman.domain.call import SETTLES, Ticket, TicketState, ToolCallResult, claimed
from ferryman.domain.execution import Execution
from ferryman.domain.http import REQUEST_SECONDS
from ferryman.domain.remit import Remit
from ferryman.gcp import documents, places
from ferryman.gcp.faults import translated
from ferryman.gcp.firestore import Firestore
from ferryman.gcp.halts import standing, switches, together
from ferryman.gcp.tasks import versions
from ferryman.ports import Errand, Stale, Summons

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncTransaction


@translated
class FirestoreTickets:
    """`ports.Tickets`."""

    def __init__(self, clients: Firestore, *, request_s: float = REQUEST_SECONDS) -> None:
        self._clients = clients
        self._under_way = timedelta(seconds=request_s) + SETTLES

    async def claim(self, summons: Summons, *, tool: str, now: datetime) -> Errand:
        from google.cloud.firestore import async_transactional

        client = self._clients.firestore()
        execution_at, ticket_at, task_at = (
            places.execution(client, summons.execution),
            places.call(client, summons.execution, summons.seq),
            places.task(client, summons.task),
        )

        @async_transactional
        async def take(transaction: AsyncTransaction) -> Errand:
            read = [execution_at, ticket_at, task_at, *switches(client, summons.owner)]
            found = await together(client, read, transaction)
            current = _held(found[execution_at.path].to_dict(), summons.epoch, now)
            if (current.task, current.owner) != (summons.task, summons.owner) or not found[ticket_at.path].exists:
                raise Stale("there is no such call")
            task = found[task_at.path].to_dict()
            remit = _allowed(current, task)
            ticket = documents.read(Ticket, found[ticket_at.path].to_dict())
            stopped = current.cancel_requested or standing(found, client, current.owner, current.created_at) is not None
            taken = claimed(ticket, tool=tool, epoch=summons.epoch, stopped=stopped, now=now, under_way=self._under_way)
            if taken is not ticket:
                transaction.update(ticket_at, documents.part(taken, "state", "attempt", "sent_at", "deadline"))
            again = ticket.state is TicketState.SENT
            known = versions(task)
            created = current.created_at
            name = str((task or {}).get("name", ""))
            return Errand(
                summons=summons, ticket=taken, remit=remit, versions=known, created=created, task_name=name, again=again
            )

        transaction = client.transaction()
        errand = await take(transaction)
        written: Any = transaction.write_results
        return replace(errand, mark=written[0].update_time) if written else errand

    async def settle(self, errand: Errand, result: ToolCallResult, *, now: datetime, in_doubt: bool = False) -> None:
        from google.api_core.exceptions import FailedPrecondition

        client = self._clients.firestore()
        settled = replace(errand.ticket, state=TicketState.SETTLED, settled_at=now, result=result, in_doubt=in_doubt)
        change = documents.part(settled, "state", "settled_at", "result", "in_doubt")
        try:
            # nobody wrote the ticket since it was claimed: then nothing need be read
            option = client.write_option(last_update_time=errand.mark)
            await places.call(client, errand.summons.execution, errand.summons.seq).update(change, option=option)
        except FailedPrecondition:
            await self._under(errand, change)

    async def release(self, errand: Errand) -> None:
        await self._under(errand, {"state": TicketState.INTENDED.value, "sent_at": None, "deadline": None})

    async def _under(self, errand: Errand, change: Mapping[str, Any]) -> None:
        """Write `change`, unless a later attempt has taken over: what this one learned then changes nothing."""
        from google.cloud.firestore import async_transactional

        client = self._clients.firestore()
        ticket_at = places.call(client, errand.summons.execution, errand.summons.seq)

        @async_transactional
        async def store(transaction: AsyncTransaction) -> None:
            ticket = documents.read(Ticket, (await ticket_at.get(transaction=transaction)).to_dict())
            if ticket.attempt == errand.ticket.attempt and ticket.state is TicketState.SENT:
                transaction.update(ticket_at, dict(change))

        await store(client.transaction())

    async def scope(self, execution: str, *, epoch: int, now: datetime) -> tuple[Execution, Mapping[str, int]]:
        client = self._clients.firestore()
        snapshot = await places.execution(client, execution).get()
        current = _held(snapshot.to_dict(), epoch, now)
        task = await places.task(client, current.task).get()
        return current, versions(task.to_dict())


def _held(document: dict[str, Any] | None, epoch: int, now: datetime) -> Execution:
    if document is None:
        raise Stale("there is no such execution")
    return lease.under(documents.read(Execution, document), epoch, now)


def _allowed(execution: Execution, task: dict[str, Any] | None) -> Remit:
    if execution.remit is None:
        raise Stale("the execution has not been opened")
    if task is None or not task.get("enabled", False):
        raise Stale("the task was disabled or deleted")
    return execution.remit
