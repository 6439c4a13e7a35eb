"""Executions in Firestore: every write of a holder is fenced by its lease's epoch, in the transaction that makes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from ferryman.domain.call import Ticket, TicketState, ToolCallResult
from ferryman.domain.execution import Execution, Lease, Opening, Status, Step
from ferryman.domain.owner import Owner, month_of
from ferryman.gcp import documents, places
from ferryman.gcp.clients import Clients
from ferryman.gcp.faults import translated
from ferryman.ports import Ending, Insufficient, Stale, Turn

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncClient, AsyncTransaction, DocumentSnapshot

UNREADABLE = "the execution document is not readable"

COUNTERS = ("iterations", "credits_used", "usage", "tool_calls", "tool_calls_total", "rate", "events", "lease")
"""What a turn's commit brings up to date on the execution document; the cancel flag is never among it."""


@translated
class FirestoreExecutions:
    """`ports.Executions`."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients

    async def create(self, execution: Execution) -> None:
        await places.execution(self._clients.firestore(), execution.id).create(documents.write(execution))

    async def get(self, execution: str) -> Execution | None:
        return _readable(await places.execution(self._clients.firestore(), execution).get())

    async def list(self, owner: str, *, task: str | None = None, most: int = 50) -> Sequence[Execution]:
        from google.cloud.firestore import FieldFilter, Query

        query = self._clients.firestore().collection("executions").where(filter=FieldFilter("owner", "==", owner))
        if task is not None:
            query = query.where(filter=FieldFilter("task", "==", task))
        query = query.order_by("created_at", direction=Query.DESCENDING).limit(most)
        return [found async for snapshot in query.stream() if (found := _readable(snapshot)) is not None]

    async def claim(self, execution: str, *, holder: str, now: datetime, lease: timedelta) -> tuple[Execution, bool]:
        from google.cloud.firestore import FieldFilter, async_transactional

        client = self._clients.firestore()
        reference = places.execution(client, execution)

        @async_transactional
        async def take(transaction: AsyncTransaction) -> tuple[Execution, bool]:
            try:
                current = await _read(transaction, execution, client)
            except documents.Unreadable:
                # it would come back for ever: whoever wrote it is told in the document itself
                ended = Execution(id=execution, task="", owner="", status=Status.FAILED, error=UNREADABLE, created_at=now)
                transaction.update(reference, {**documents.part(ended, "status", "error"), "completed_at": now})
                return ended, False
            held = current.lease is not None and current.lease.expires_at > now
            if current.status.terminal or (current.status is Status.RUNNING and held):
                return current, False
            epoch = (current.lease.epoch if current.lease else 0) + 1
            unfinished = reference.collection("calls").where(
                filter=FieldFilter("state", "in", [TicketState.INTENDED.value, TicketState.SENT.value])
            )
            stamped = [each.reference async for each in unfinished.stream(transaction=transaction)] if epoch > 1 else []
            taken = replace(
                current,
                status=Status.RUNNING,
                started_at=current.started_at or now,
                lease=Lease(holder=holder, epoch=epoch, expires_at=now + lease),
            )
            transaction.update(reference, documents.part(taken, "status", "started_at", "lease"))
            for each in stamped:
                transaction.update(each, {"epoch": epoch})
            return taken, True

        return await take(client.transaction())

    async def open(self, execution: Execution, opening: Opening, *, reserve: Decimal, now: datetime) -> None:
        from google.cloud.firestore import async_transactional

        client = self._clients.firestore()

        @async_transactional
        async def store(transaction: AsyncTransaction) -> None:
            await _fenced(transaction, execution, client, now)
            owner = await _owner(transaction, execution, client, now)
            remit = execution.remit
            if owner is None or remit is None:
                raise Stale("the owner is gone")
            if owner.credits_used + owner.credits_reserved + reserve > remit.plan.credits_per_month:
                raise Insufficient(f"{reserve} credits are not left this month on plan {remit.plan.name}")
            reserved = replace(owner, credits_reserved=owner.credits_reserved + reserve)
            transaction.set(places.owner(client, owner.id), documents.write(reserved))
            held = replace(execution, credits_reserved=reserve)
            transaction.update(
                places.execution(client, execution.id), documents.part(held, "remit", "credits_reserved", "events")
            )
            transaction.set(places.step(client, execution.id, 0), documents.write(opening))

        await store(client.transaction())

    async def commit(self, execution: Execution, turn: Turn, *, now: datetime, lease: timedelta) -> Execution:
        from google.cloud.firestore import async_transactional

        client = self._clients.firestore()

        @async_transactional
        async def store(transaction: AsyncTransaction) -> Execution:
            current = await _fenced(transaction, execution, client, now)
            renewed = replace(current, expires_at=now + lease)
            after = replace(execution, lease=renewed)
            transaction.update(places.execution(client, execution.id), documents.part(after, *COUNTERS))
            transaction.create(places.step(client, execution.id, turn.step.number), documents.write(turn.step))
            for ticket in turn.tickets:
                transaction.create(places.call(client, execution.id, ticket.seq), documents.write(ticket))
            return after

        return await store(client.transaction())

    async def renew(self, execution: Execution, *, now: datetime, lease: timedelta) -> Execution:
        from google.cloud.firestore import async_transactional

        client = self._clients.firestore()

        @async_transactional
        async def store(transaction: AsyncTransaction) -> Execution:
            current = await _read(transaction, execution.id, client)
            after = replace(execution, lease=replace(_fence(current, execution, now), expires_at=now + lease))
            transaction.update(places.execution(client, execution.id), documents.part(after, "lease"))
            return replace(after, cancel_requested=current.cancel_requested)

        return await store(client.transaction())

    async def settle(self, execution: Execution, seq: int, result: ToolCallResult, *, now: datetime) -> ToolCallResult:
        from google.cloud.firestore import async_transactional

        client = self._clients.firestore()
        ticket_at = places.call(client, execution.id, seq)

        @async_transactional
        async def store(transaction: AsyncTransaction) -> ToolCallResult:
            await _fenced(transaction, execution, client, now)
            ticket = documents.read(Ticket, (await ticket_at.get(transaction=transaction)).to_dict())
            if ticket.result is not None:
                return ticket.result  # the tool answered after all
            settled = {"state": TicketState.SETTLED.value, "settled_at": now, "result": documents.write(result)}
            transaction.update(ticket_at, settled)
            return result

        return await store(client.transaction())

    async def finish(self, execution: Execution, ending: Ending, *, now: datetime) -> None:
        from google.cloud.firestore import async_transactional

        client = self._clients.firestore()

        @async_transactional
        async def store(transaction: AsyncTransaction) -> None:
            current = await _read(transaction, execution.id, client)
            _fence(current, execution, now)
            owner = await _owner(transaction, execution, client, now)
            if owner is not None:
                released = max(Decimal(0), owner.credits_reserved - current.credits_reserved)
                settled = replace(owner, credits_reserved=released, credits_used=owner.credits_used + execution.credits_used)
                transaction.set(places.owner(client, owner.id), documents.write(settled))
            ended = replace(
                execution, status=ending.status, output=ending.output, error=ending.error, completed_at=now, lease=None
            )
            names = (*COUNTERS, "status", "output", "error", "completed_at")
            transaction.update(places.execution(client, execution.id), documents.part(ended, *names))

        await store(client.transaction())

    async def cancel(self, execution: str, *, now: datetime) -> Execution | None:
        from google.cloud.firestore import async_transactional

        client = self._clients.firestore()
        reference = places.execution(client, execution)

        @async_transactional
        async def flag(transaction: AsyncTransaction) -> Execution | None:
            snapshot = await reference.get(transaction=transaction)
            if not snapshot.exists:
                return None
            current = documents.read(Execution, snapshot.to_dict())
            if current.status.terminal:
                return current
            after = replace(current, cancel_requested=True)
            if current.status is Status.QUEUED:
                after = replace(after, status=Status.KILLED, error="cancelled before it started", completed_at=now)
            transaction.update(reference, documents.part(after, "cancel_requested", "status", "error", "completed_at"))
            return after

        return await flag(client.transaction())

    async def opening(self, execution: str) -> Opening | None:
        snapshot = await places.step(self._clients.firestore(), execution, 0).get()
        return documents.read(Opening, snapshot.to_dict()) if snapshot.exists else None

    async def steps(self, execution: str, *, after: int = 0) -> Sequence[Step]:
        from google.cloud.firestore import FieldFilter

        collection = places.execution(self._clients.firestore(), execution).collection("steps")
        query = collection.where(filter=FieldFilter("number", ">", after)).order_by("number")
        return [documents.read(Step, snapshot.to_dict()) async for snapshot in query.stream()]

    async def tickets(self, execution: str, *, first: int = 0) -> Sequence[Ticket]:
        from google.cloud.firestore import FieldFilter

        collection = places.execution(self._clients.firestore(), execution).collection("calls")
        query = collection.where(filter=FieldFilter("seq", ">=", first)).order_by("seq")
        return [documents.read(Ticket, snapshot.to_dict()) async for snapshot in query.stream()]


async def _read(transaction: AsyncTransaction, execution: str, client: AsyncClient) -> Execution:
    snapshot = await places.execution(client, execution).get(transaction=transaction)
    if not snapshot.exists:
        raise KeyError(execution)
    found = documents.read(Execution, snapshot.to_dict())
    if found.id != execution:
        raise documents.Unreadable("the document names another execution")
    return found


def _readable(snapshot: DocumentSnapshot[Any]) -> Execution | None:
    try:
        found = documents.read(Execution, snapshot.to_dict())
    except (KeyError, documents.Unreadable):
        return None
    return found if found.id == snapshot.id else None


async def _fenced(transaction: AsyncTransaction, held: Execution, client: AsyncClient, now: datetime) -> Lease:
    return _fence(await _read(transaction, held.id, client), held, now)


def _fence(current: Execution, held: Execution, now: datetime) -> Lease:
    lease = current.lease
    if lease is None or held.lease is None or lease.epoch != held.lease.epoch or current.status.terminal:
        raise Stale("the lease has moved on")
    if lease.expires_at <= now:
        raise Stale("the lease has run out")
    return lease


async def _owner(transaction: AsyncTransaction, execution: Execution, client: AsyncClient, now: datetime) -> Owner | None:
    snapshot = await places.owner(client, execution.owner).get(transaction=transaction)
    if not snapshot.exists:
        return None
    owner = documents.read(Owner, snapshot.to_dict())
    month = month_of(now)
    if owner.month == month:
        return owner
    # what runs across the turn of a month stays reserved until it ends
    return replace(owner, month=month, credits_used=Decimal(0))
