"""Executions in Firestore: leases with fencing tokens (the epoch), and a write-ahead journal of turns and calls.

Every write of a holder is checked against the stored epoch in the transaction that makes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from ferryman.domain.calls.call import Ticket, TicketState, ToolCallResult
from ferryman.domain.credits.balance import CreditBalance, name_owner_balance, name_task_balance
from ferryman.domain.credits.ledger import LedgerEntry
from ferryman.domain.executions import lease as rules
from ferryman.domain.executions.execution import Execution, ExecutionSetup, Lease, Status, Step
from ferryman.domain.executions.halt import DISABLED
from ferryman.domain.executions.occupancy import NoFreeSlotError, Occupancy
from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.owners.plan import PLANS, Plan
from ferryman.domain.receipts.receipt import Receipt
from ferryman.domain.stale import StaleError
from ferryman.gcp import documents, keyed, occupancy, places
from ferryman.gcp.faults import translate_errors
from ferryman.gcp.firestore import FirestoreClient
from ferryman.gcp.halts import find_halt_reason, get_together, list_switches
from ferryman.gcp.receipts import StoredReceipts, create_receipts
from ferryman.gcp.retention import Retention
from ferryman.gcp.transactions import transact
from ferryman.ports.errors import HaltedError, TaskDisabledError
from ferryman.ports.executions import ExecutionEnding, TurnCommit

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncClient, AsyncTransaction, DocumentSnapshot

UNREADABLE = "the execution document is not readable"

Leave = Callable[[Execution, Execution, datetime], Execution]

HELD = ("lease", "asked", "credits_held")
COUNTERS = ("iterations", "credits_used", "usage", "tool_calls", "tool_calls_total", "rate", "events", "receipts", *HELD)
"""What a turn's commit brings up to date on the execution document; the cancel flag is never among it."""


@translate_errors
class FirestoreExecutions:
    """`ports.Executions`."""

    def __init__(self, clients: FirestoreClient, retention: Retention | None = None, plans: Mapping[str, Plan] = PLANS) -> None:
        self._clients = clients
        self._retention = retention or Retention()
        self._plans = plans

    async def start(self, execution: Execution, *, most: int, done: Completion | None = None) -> Occupancy:
        client = self._clients.firestore()
        reference, task = places.locate_execution(client, execution.id), places.locate_task(client, execution.task)
        occupied_at = places.locate_occupancy(client, execution.owner)

        async def store(transaction: AsyncTransaction) -> Occupancy:
            answered = await keyed.read_completion(transaction, client, done)
            found = await get_together(client, [task, occupied_at], transaction)
            if not (found[task.path].to_dict() or {}).get("enabled", False):
                raise TaskDisabledError(DISABLED)
            occupied = occupancy.read_occupancy(found[occupied_at.path]).enqueue(execution, most=most)
            occupancy.store_occupancy(transaction, client, execution.owner, occupied)
            transaction.create(reference, documents.write(execution))
            keyed.store_completion(transaction, client, answered)
            return occupied

        stored = await documents.confirm_created(transact(client.transaction(), store), reference, execution)
        return occupancy.read_occupancy(await occupied_at.get()) if stored is None else stored

    async def next_queued(self, owner: str, *, now: datetime) -> Sequence[str]:
        client = self._clients.firestore()
        occupied_at, owner_at = places.locate_occupancy(client, owner), places.locate_owner(client, owner)
        found = await get_together(client, [occupied_at, owner_at])
        plan = occupancy.find_plan(found[owner_at.path], self._plans)
        occupied = occupancy.read_occupancy(found[occupied_at.path])
        return () if plan is None else occupied.find_next(most=plan.executions_running, now=now)

    async def get(self, execution: str) -> Execution | None:
        return _read_or_none(await places.locate_execution(self._clients.firestore(), execution).get())

    async def list(self, owner: str, *, task: str | None = None, most: int = 50) -> Sequence[Execution]:
        from google.cloud.firestore import FieldFilter, Query

        query = self._clients.firestore().collection("executions").where(filter=FieldFilter("owner", "==", owner))
        if task is not None:
            query = query.where(filter=FieldFilter("task", "==", task))
        query = query.order_by("created_at", direction=Query.DESCENDING).limit(most)
        return [found async for snapshot in query.stream() if (found := _read_or_none(snapshot)) is not None]

    async def claim(
        self, execution: str, *, slice: int, holder: str, now: datetime, lease: timedelta
    ) -> tuple[Execution, bool]:
        from google.cloud.firestore import FieldFilter

        client = self._clients.firestore()
        reference = places.locate_execution(client, execution)

        async def take(transaction: AsyncTransaction) -> tuple[Execution, bool]:
            try:
                current = await _read(transaction, execution, client)
            except documents.UnreadableDocumentError:
                # it would come back for ever: whoever wrote it is told in the document itself
                ended = Execution(id=execution, task="", owner="", status=Status.FAILED, error=UNREADABLE, created_at=now)
                transaction.update(
                    reference,
                    {**documents.write_fields(ended, "status", "error"), "completed_at": now, **self._retention.ended(now)},
                )
                return ended, False
            taken = rules.acquire_lease(current, slice=slice, holder=holder, now=now, length=lease)
            if taken is None:
                return current, False
            unfinished = reference.collection("calls").where(
                filter=FieldFilter("state", "in", [TicketState.INTENDED.value, TicketState.SENT.value])
            )
            first = taken.epoch == 1
            occupied = await self._slot(transaction, client, current, taken, now)
            stamped = [] if first else [each.reference async for each in unfinished.stream(transaction=transaction)]
            occupancy.store_occupancy(transaction, client, current.owner, occupied)
            transaction.update(reference, documents.write_fields(taken, "status", "started_at", "lease"))
            for each in stamped:
                transaction.update(each, {"epoch": taken.epoch})
            return taken, True

        return await transact(client.transaction(), take)

    async def _slot(
        self, transaction: AsyncTransaction, client: AsyncClient, current: Execution, taken: Execution, now: datetime
    ) -> Occupancy:
        """The owner's occupancy once `taken` runs, as the claim's transaction is to store it. Raises `NoFreeSlotError`."""
        occupied_at, owner = places.locate_occupancy(client, current.owner), places.locate_owner(client, current.owner)
        found = await get_together(client, [occupied_at, owner], transaction)
        occupied, plan = occupancy.read_occupancy(found[occupied_at.path]), occupancy.find_plan(found[owner.path], self._plans)
        if plan is not None and not occupied.has_slot(current, most=plan.executions_running):
            # Whose time is past is looked at before anybody waits for it. Outside of the transaction: one that holds no lease
            # takes one only in a transaction that writes the same occupancy.
            doubtful = occupied.find_doubtful(besides=current.id, now=now)
            seen = await get_together(client, [places.locate_execution(client, each) for each in doubtful]) if doubtful else {}
            occupied = occupied.confirm(doubtful, filter(None, map(_read_or_none, seen.values())), now=now)
            if not occupied.has_slot(current, most=plan.executions_running):
                raise NoFreeSlotError(current, queued=len(occupied.queued))
        return occupied.run(taken)

    async def open(
        self,
        execution: Execution,
        opening: ExecutionSetup,
        *,
        entry: LedgerEntry,
        receipts: tuple[Receipt, ...] = (),
        now: datetime,
    ) -> None:
        client = self._clients.firestore()
        below = self._retention.below(execution, now)

        async def store(transaction: AsyncTransaction) -> None:
            await _read_fence(transaction, execution, client, now)
            owner, task = await _read_balances(transaction, execution, client, now)
            policy, reserve = execution.policy, opening.max_credits
            if policy is None:
                raise StaleError("the execution has no policy")
            month = policy.plan.credits_per_month
            task_month = month if policy.credits_per_month is None else policy.credits_per_month
            owner = owner.reserve(reserve, limit=month, whose=f"plan {policy.plan.name}")
            task = task.reserve(reserve, limit=task_month, whose="the task")
            for balance in (owner, task):
                transaction.set(places.locate_balance(client, balance.id), documents.write(balance))
            transaction.create(places.locate_entry(client, entry.id), documents.write(entry))
            held = replace(execution, credits_reserved=reserve)
            names = ("policy", "credits_reserved", "events", "receipts")
            transaction.update(places.locate_execution(client, execution.id), documents.write_fields(held, *names))
            create_receipts(client, transaction, receipts, below)
            transaction.set(places.locate_step(client, execution.id, 0), documents.write(opening) | below)

        await transact(client.transaction(), store)

    async def ask(self, execution: Execution, *, now: datetime, lease: timedelta) -> Execution:
        client = self._clients.firestore()

        async def store(transaction: AsyncTransaction) -> Execution:
            current = await _read_unhalted(transaction, execution, client)
            held = rules.check_fence(current, execution, now)
            if current.cancel_requested:
                return replace(execution, cancel_requested=True)
            after = replace(execution, lease=replace(held, expires_at=now + lease))
            transaction.update(places.locate_execution(client, execution.id), documents.write_fields(after, *HELD))
            return after

        return await transact(client.transaction(), store)

    async def commit(self, execution: Execution, turn: TurnCommit, *, now: datetime, lease: timedelta) -> Execution:
        client = self._clients.firestore()
        below = self._retention.below(execution, now)

        async def store(transaction: AsyncTransaction) -> Execution:
            current = await _read_fence(transaction, execution, client, now)
            renewed = replace(current, expires_at=now + lease)
            after = replace(execution, lease=renewed)
            transaction.update(places.locate_execution(client, execution.id), documents.write_fields(after, *COUNTERS))
            transaction.create(places.locate_step(client, execution.id, turn.step.number), documents.write(turn.step) | below)
            if turn.entry is not None:
                transaction.create(places.locate_entry(client, turn.entry.id), documents.write(turn.entry))
            create_receipts(client, transaction, turn.receipts, below)
            for ticket in turn.tickets:
                transaction.create(places.locate_call(client, execution.id, ticket.seq), documents.write(ticket) | below)
            return after

        return await transact(client.transaction(), store)

    async def renew(self, execution: Execution, *, now: datetime, lease: timedelta) -> Execution:
        client = self._clients.firestore()

        async def store(transaction: AsyncTransaction) -> Execution:
            current = await _read_unhalted(transaction, execution, client)
            after = replace(execution, lease=replace(rules.check_fence(current, execution, now), expires_at=now + lease))
            transaction.update(places.locate_execution(client, execution.id), documents.write_fields(after, "lease"))
            return replace(after, cancel_requested=current.cancel_requested)

        return await transact(client.transaction(), store)

    async def settle(
        self, execution: Execution, seq: int, result: ToolCallResult, *, now: datetime, in_doubt: bool = False
    ) -> Ticket:
        client = self._clients.firestore()
        ticket_at = places.locate_call(client, execution.id, seq)

        async def store(transaction: AsyncTransaction) -> Ticket:
            await _read_fence(transaction, execution, client, now)
            ticket = documents.read(Ticket, (await ticket_at.get(transaction=transaction)).to_dict())
            if ticket.result is not None:
                return ticket  # the tool answered after all
            settled = replace(ticket, state=TicketState.SETTLED, settled_at=now, result=result, in_doubt=in_doubt)
            transaction.update(ticket_at, documents.write_fields(settled, "state", "settled_at", "result", "in_doubt"))
            return settled

        return await transact(client.transaction(), store)

    async def give_up(self, execution: Execution, *, now: datetime) -> None:
        await self._left(execution, rules.release_lease, now=now)

    async def hand_over(self, execution: Execution, *, now: datetime) -> int:
        return (await self._left(execution, rules.hand_over_slice, now=now)).slice

    async def _left(self, execution: Execution, leave: Leave, *, now: datetime) -> Execution:
        client = self._clients.firestore()

        async def store(transaction: AsyncTransaction) -> Execution:
            after = leave(await _read(transaction, execution.id, client), execution, now)
            occupancy.free_slot(transaction, client, execution)
            transaction.update(places.locate_execution(client, execution.id), documents.write_fields(after, *HELD, "slice"))
            return after

        return await transact(client.transaction(), store)

    async def finish(self, execution: Execution, ending: ExecutionEnding, *, now: datetime) -> bool:
        client = self._clients.firestore()

        async def store(transaction: AsyncTransaction) -> bool:
            current = await _read(transaction, execution.id, client)
            rules.check_fence(current, execution, now)
            if current.cancel_requested and not execution.cancel_requested:
                return False
            if ending.entry is not None:
                for balance in await _read_balances(transaction, execution, client, now):
                    settled = balance.settle(reserved=current.credits_reserved, used=execution.credits_used)
                    transaction.set(places.locate_balance(client, balance.id), documents.write(settled))
                transaction.create(places.locate_entry(client, ending.entry.id), documents.write(ending.entry))
            ended = replace(
                execution, status=ending.status, output=ending.output, error=ending.error, completed_at=now, lease=None
            )
            names = (*COUNTERS, "status", "output", "error", "completed_at")
            going = self._retention.ended(now)
            transaction.update(places.locate_execution(client, execution.id), documents.write_fields(ended, *names) | going)
            occupancy.free_slot(transaction, client, execution)
            create_receipts(client, transaction, ending.receipts, self._retention.below(execution, now))
            return True

        return await transact(client.transaction(), store)

    async def cancel(self, execution: str, *, now: datetime) -> Execution | None:
        client = self._clients.firestore()
        reference = places.locate_execution(client, execution)

        async def flag(transaction: AsyncTransaction) -> Execution | None:
            snapshot = await reference.get(transaction=transaction)
            if not snapshot.exists:
                return None
            current = documents.read(Execution, snapshot.to_dict())
            if current.status.terminal:
                return current
            after = replace(current, cancel_requested=True)
            if current.status is Status.QUEUED:
                occupancy.free_slot(transaction, client, current)
                after = replace(after, status=Status.KILLED, error="cancelled before it started", completed_at=now)
            going = self._retention.ended(now) if after.status.terminal else {}
            names = ("cancel_requested", "status", "error", "completed_at")
            transaction.update(reference, documents.write_fields(after, *names) | going)
            return after

        return await transact(client.transaction(), flag)

    async def opening(self, execution: str) -> ExecutionSetup | None:
        snapshot = await places.locate_step(self._clients.firestore(), execution, 0).get()
        return documents.read(ExecutionSetup, snapshot.to_dict()) if snapshot.exists else None

    async def steps(self, execution: str, *, after: int = 0) -> Sequence[Step]:
        from google.cloud.firestore import FieldFilter

        collection = places.locate_execution(self._clients.firestore(), execution).collection("steps")
        query = collection.where(filter=FieldFilter("number", ">", after)).order_by("number")
        return [documents.read(Step, snapshot.to_dict()) async for snapshot in query.stream()]

    async def tickets(self, execution: str, *, first: int = 0) -> Sequence[Ticket]:
        from google.cloud.firestore import FieldFilter

        collection = places.locate_execution(self._clients.firestore(), execution).collection("calls")
        query = collection.where(filter=FieldFilter("seq", ">=", first)).order_by("seq")
        return [documents.read(Ticket, snapshot.to_dict()) async for snapshot in query.stream()]

    async def receipts(self, execution: str) -> Sequence[Receipt]:
        query = places.locate_execution(self._clients.firestore(), execution).collection("receipts").order_by("first")
        commits = [documents.read(StoredReceipts, snapshot.to_dict()) async for snapshot in query.stream()]
        return [receipt for commit in commits for receipt in commit.entries]


async def _read(transaction: AsyncTransaction, execution: str, client: AsyncClient) -> Execution:
    snapshot = await places.locate_execution(client, execution).get(transaction=transaction)
    if not snapshot.exists:
        raise KeyError(execution)
    found = documents.read(Execution, snapshot.to_dict())
    if found.id != execution:
        raise documents.UnreadableDocumentError("the document names another execution")
    return found


def _read_or_none(snapshot: DocumentSnapshot[Any]) -> Execution | None:
    try:
        found = documents.read(Execution, snapshot.to_dict())
    except (KeyError, documents.UnreadableDocumentError):
        return None
    return found if found.id == snapshot.id else None


async def _read_unhalted(transaction: AsyncTransaction, held: Execution, client: AsyncClient) -> Execution:
    """The execution as it is stored, read together with its task and the kill switches; raises `HaltedError` or
    `TaskDisabledError`."""
    reference, task = places.locate_execution(client, held.id), places.locate_task(client, held.task)
    found = await get_together(client, [reference, task, *list_switches(client, held.owner)], transaction)
    reason = find_halt_reason(found, client, held.owner, held.created_at)
    if reason is not None:
        raise HaltedError(reason)
    if not (found[task.path].to_dict() or {}).get("enabled", False):
        raise TaskDisabledError(DISABLED)
    return documents.read(Execution, found[reference.path].to_dict())


async def _read_fence(transaction: AsyncTransaction, held: Execution, client: AsyncClient, now: datetime) -> Lease:
    return rules.check_fence(await _read(transaction, held.id, client), held, now)


async def _read_balances(
    transaction: AsyncTransaction, execution: Execution, client: AsyncClient, now: datetime
) -> tuple[CreditBalance, CreditBalance]:
    """The purses of owner and task, in the month of `now`."""
    names = (name_owner_balance(execution.owner), name_task_balance(execution.task))
    references = [places.locate_balance(client, name) for name in names]
    found = await get_together(client, references, transaction)
    held = (found[reference.path].to_dict() for reference in references)
    owner, task = (
        (documents.read(CreditBalance, document) if document else CreditBalance(id=name)).at(now)
        for name, document in zip(names, held, strict=True)
    )
    return owner, task
