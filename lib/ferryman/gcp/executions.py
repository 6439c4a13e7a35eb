"""Executions in Firestore: every write of a holder is fenced by its lease's epoch, in the transaction that makes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from ferryman.domain import lease as rules
from ferryman.domain.call import Ticket, TicketState, ToolCallResult
from ferryman.domain.execution import Execution, Lease, Opening, Status, Step
from ferryman.domain.halt import DISABLED
from ferryman.domain.ledger import Entry
from ferryman.domain.purse import Purse, of_owner, of_task
from ferryman.domain.receipt import Receipt
from ferryman.gcp import documents, places
from ferryman.gcp.faults import translated
from ferryman.gcp.firestore import Firestore
from ferryman.gcp.halts import standing, switches, together
from ferryman.gcp.receipts import Entered, enter
from ferryman.gcp.retention import Retention
from ferryman.ports import Disabled, Ending, Halted, Stale, Turn

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncClient, AsyncTransaction, DocumentSnapshot

UNREADABLE = "the execution document is not readable"

Leave = Callable[[Execution, Execution, datetime], Execution]

HELD = ("lease", "asked", "credits_held")
COUNTERS = ("iterations", "credits_used", "usage", "tool_calls", "tool_calls_total", "rate", "events", "receipts", *HELD)
"""What a turn's commit brings up to date on the execution document; the cancel flag is never among it."""


@translated
class FirestoreExecutions:
    """`ports.Executions`."""

    def __init__(self, clients: Firestore, retention: Retention | None = None) -> None:
        self._clients = clients
        self._retention = retention or Retention()

    async def create(self, execution: Execution) -> None:
        await documents.create(places.execution(self._clients.firestore(), execution.id), execution)

    async def get(self, execution: str) -> Execution | None:
        return _readable(await places.execution(self._clients.firestore(), execution).get())

    async def list(self, owner: str, *, task: str | None = None, most: int = 50) -> Sequence[Execution]:
        from google.cloud.firestore import FieldFilter, Query

        query = self._clients.firestore().collection("executions").where(filter=FieldFilter("owner", "==", owner))
        if task is not None:
            query = query.where(filter=FieldFilter("task", "==", task))
        query = query.order_by("created_at", direction=Query.DESCENDING).limit(most)
        return [found async for snapshot in query.stream() if (found := _readable(snapshot)) is not None]

    async def claim(
        self,
        execution: str,
        *,
        slice: int,
        holder: str,
        now: datetime,
        lease: timedelta,
    ) -> tuple[Execution, bool]:
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
                transaction.update(
                    reference,
                    {**documents.part(ended, "status", "error"), "completed_at": now, **self._retention.ended(now)},
                )
                return ended, False
            taken = rules.taken(current, slice=slice, holder=holder, now=now, length=lease)
            if taken is None:
                return current, False
            unfinished = reference.collection("calls").where(
                filter=FieldFilter("state", "in", [TicketState.INTENDED.value, TicketState.SENT.value])
            )
            first = taken.epoch == 1
            stamped = [] if first else [each.reference async for each in unfinished.stream(transaction=transaction)]
            transaction.update(reference, documents.part(taken, "status", "started_at", "lease"))
            for each in stamped:
                transaction.update(each, {"epoch": taken.epoch})
            return taken, True

        return await take(client.transaction())

    async def open(
        self, execution: Execution, opening: Opening, *, entry: Entry, receipts: tuple[Receipt, ...] = (), now: datetime
    ) -> None:
        from google.cloud.firestore import async_transactional

        client = self._clients.firestore()
        below = self._retention.below(execution, now)

        @async_transactional
        async def store(transaction: AsyncTransaction) -> None:
            await _fenced(transaction, execution, client, now)
            owner, task = await _purses(transaction, execution, client, now)
            remit, reserve = execution.remit, opening.max_credits
            if remit is None:
                raise Stale("the execution has no remit")
            month = remit.plan.credits_per_month
            task_month = month if remit.credits_per_month is None else remit.credits_per_month
            owner = owner.reserve(reserve, limit=month, whose=f"plan {remit.plan.name}")
            task = task.reserve(reserve, limit=task_month, whose="the task")
            for purse in (owner, task):
                transaction.set(places.purse(client, purse.id), documents.write(purse))
            transaction.create(places.entry(client, entry.id), documents.write(entry))
            held = replace(execution, credits_reserved=reserve)
            names = ("remit", "credits_reserved", "events", "receipts")
            transaction.update(places.execution(client, execution.id), documents.part(held, *names))
            enter(client, transaction, receipts, below)
            transaction.set(places.step(client, execution.id, 0), documents.write(opening) | below)

        await store(client.transaction())

    async def ask(self, execution: Execution, *, now: datetime, lease: timedelta) -> Execution:
        from google.cloud.firestore import async_transactional

        client = self._clients.firestore()

        @async_transactional
        async def store(transaction: AsyncTransaction) -> Execution:
            current = await _unhalted(transaction, execution, client)
            held = rules.fence(current, execution, now)
            if current.cancel_requested:
                return replace(execution, cancel_requested=True)
            after = replace(execution, lease=replace(held, expires_at=now + lease))
            transaction.update(places.execution(client, execution.id), documents.part(after, *HELD))
            return after

        return await store(client.transaction())

    async def commit(self, execution: Execution, turn: Turn, *, now: datetime, lease: timedelta) -> Execution:
        from google.cloud.firestore import async_transactional

        client = self._clients.firestore()
        below = self._retention.below(execution, now)

        @async_transactional
        async def store(transaction: AsyncTransaction) -> Execution:
            current = await _fenced(transaction, execution, client, now)
            renewed = replace(current, expires_at=now + lease)
            after = replace(execution, lease=renewed)
            transaction.update(places.execution(client, execution.id), documents.part(after, *COUNTERS))
            transaction.create(places.step(client, execution.id, turn.step.number), documents.write(turn.step) | below)
            if turn.entry is not None:
                transaction.create(places.entry(client, turn.entry.id), documents.write(turn.entry))
            enter(client, transaction, turn.receipts, below)
            for ticket in turn.tickets:
                transaction.create(places.call(client, execution.id, ticket.seq), documents.write(ticket) | below)
            return after

        return await store(client.transaction())

    async def renew(self, execution: Execution, *, now: datetime, lease: timedelta) -> Execution:
        from google.cloud.firestore import async_transactional

        client = self._clients.firestore()

        @async_transactional
        async def store(transaction: AsyncTransaction) -> Execution:
            current = await _unhalted(transaction, execution, client)
            after = replace(execution, lease=replace(rules.fence(current, execution, now), expires_at=now + lease))
            transaction.update(places.execution(client, execution.id), documents.part(after, "lease"))
            return replace(after, cancel_requested=current.cancel_requested)

        return await store(client.transaction())

    async def settle(
        self, execution: Execution, seq: int, result: ToolCallResult, *, now: datetime, in_doubt: bool = False
    ) -> ToolCallResult:
        from google.cloud.firestore import async_transactional

        client = self._clients.firestore()
        ticket_at = places.call(client, execution.id, seq)

        @async_transactional
        async def store(transaction: AsyncTransaction) -> ToolCallResult:
            await _fenced(transaction, execution, client, now)
            ticket = documents.read(Ticket, (await ticket_at.get(transaction=transaction)).to_dict())
            if ticket.result is not None:
                return ticket.result  # the tool answered after all
            settled = replace(ticket, state=TicketState.SETTLED, settled_at=now, result=result, in_doubt=in_doubt)
            transaction.update(ticket_at, documents.part(settled, "state", "settled_at", "result", "in_doubt"))
            return result

        return await store(client.transaction())

    async def give_up(self, execution: Execution, *, now: datetime) -> None:
        await self._left(execution, rules.given_up, now=now)

    async def hand_over(self, execution: Execution, *, now: datetime) -> int:
        return (await self._left(execution, rules.handed_over, now=now)).slice

    async def _left(self, execution: Execution, leave: Leave, *, now: datetime) -> Execution:
        from google.cloud.firestore import async_transactional

        client = self._clients.firestore()

        @async_transactional
        async def store(transaction: AsyncTransaction) -> Execution:
            after = leave(await _read(transaction, execution.id, client), execution, now)
            transaction.update(places.execution(client, execution.id), documents.part(after, *HELD, "slice"))
            return after

        return await store(client.transaction())

    async def finish(self, execution: Execution, ending: Ending, *, now: datetime) -> None:
        from google.cloud.firestore import async_transactional

        client = self._clients.firestore()

        @async_transactional
        async def store(transaction: AsyncTransaction) -> None:
            current = await _read(transaction, execution.id, client)
            rules.fence(current, execution, now)
            if ending.entry is not None:
                for purse in await _purses(transaction, execution, client, now):
                    settled = purse.settle(reserved=current.credits_reserved, used=execution.credits_used)
                    transaction.set(places.purse(client, purse.id), documents.write(settled))
                transaction.create(places.entry(client, ending.entry.id), documents.write(ending.entry))
            ended = replace(
                execution, status=ending.status, output=ending.output, error=ending.error, completed_at=now, lease=None
            )
            names = (*COUNTERS, "status", "output", "error", "completed_at")
            going = self._retention.ended(now)
            transaction.update(places.execution(client, execution.id), documents.part(ended, *names) | going)
            enter(client, transaction, ending.receipts, self._retention.below(execution, now))

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
            going = self._retention.ended(now) if after.status.terminal else {}
            names = ("cancel_requested", "status", "error", "completed_at")
            transaction.update(reference, documents.part(after, *names) | going)
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

    async def receipts(self, execution: str) -> Sequence[Receipt]:
        query = places.execution(self._clients.firestore(), execution).collection("receipts").order_by("first")
        commits = [documents.read(Entered, snapshot.to_dict()) async for snapshot in query.stream()]
        return [receipt for commit in commits for receipt in commit.entries]


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


async def _unhalted(transaction: AsyncTransaction, held: Execution, client: AsyncClient) -> Execution:
    """The execution as it is stored, read together with its task and the kill switches; raises `Halted` or `Disabled`."""
    reference, task = places.execution(client, held.id), places.task(client, held.task)
    found = await together(client, [reference, task, *switches(client, held.owner)], transaction)
    reason = standing(found, client, held.owner, held.created_at)
    if reason is not None:
        raise Halted(reason)
    if not (found[task.path].to_dict() or {}).get("enabled", False):
        raise Disabled(DISABLED)
    return documents.read(Execution, found[reference.path].to_dict())


async def _fenced(transaction: AsyncTransaction, held: Execution, client: AsyncClient, now: datetime) -> Lease:
    return rules.fence(await _read(transaction, held.id, client), held, now)


async def _purses(
    transaction: AsyncTransaction, execution: Execution, client: AsyncClient, now: datetime
) -> tuple[Purse, Purse]:
    """The purses of owner and task, in the month of `now`."""
    names = (of_owner(execution.owner), of_task(execution.task))
    references = [places.purse(client, name) for name in names]
    found = await together(client, references, transaction)
    held = (found[reference.path].to_dict() for reference in references)
    owner, task = (
        (documents.read(Purse, document) if document else Purse(id=name)).at(now)
        for name, document in zip(names, held, strict=True)
    )
    return owner, task
