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
from ferryman.domain.credits.reservation import reserve_credits
from ferryman.domain.executions import lease as rules
from ferryman.domain.executions import transitions
from ferryman.domain.executions.execution import Execution, ExecutionSetup, Lease, Status, Step
from ferryman.domain.executions.halt import DISABLED
from ferryman.domain.executions.occupancy import NoFreeSlotError, Occupancy
from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.owners.plan import PLANS, Plan
from ferryman.domain.receipts.receipt import Receipt
from ferryman.gcp import documents, keyed, occupancy, places
from ferryman.gcp.faults import translate_errors
from ferryman.gcp.firestore import FirestoreClient
from ferryman.gcp.halts import list_switches, read_halt_reason
from ferryman.gcp.receipts import StoredReceipts, create_receipts
from ferryman.gcp.retention import Retention
from ferryman.gcp.store import FirestoreStore, filter_by, read_together
from ferryman.ports.errors import HaltedError, TaskDisabledError
from ferryman.ports.executions import ExecutionEnding, TurnCommit

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncClient, AsyncTransaction, DocumentSnapshot

UNREADABLE = "the execution document is not readable"
UNSETTLED = [TicketState.INTENDED.value, TicketState.SENT.value]


@translate_errors
class FirestoreExecutions(FirestoreStore):
    """`ports.Executions`."""

    def __init__(self, clients: FirestoreClient, retention: Retention | None = None, plans: Mapping[str, Plan] = PLANS) -> None:
        super().__init__(clients)
        self._retention = retention or Retention()
        self._plans = plans

    async def start(self, execution: Execution, *, most: int, done: Completion | None = None) -> Occupancy:
        client = self._client
        reference, task = places.locate_execution(client, execution.id), places.locate_task(client, execution.task)
        occupancy_at = places.locate_occupancy(client, execution.owner)

        async def store(transaction: AsyncTransaction) -> Occupancy:
            answered = await keyed.read_completion(transaction, client, done)
            snapshots = await read_together(client, [task, occupancy_at], transaction)
            if not (snapshots[task.path].to_dict() or {}).get("enabled", False):
                raise TaskDisabledError(DISABLED)
            occupied = occupancy.read_occupancy(snapshots[occupancy_at.path]).enqueue(execution, most=most)
            occupancy.store_occupancy(transaction, client, execution.owner, occupied)
            transaction.create(reference, documents.write(execution))
            keyed.store_completion(transaction, client, answered)
            return occupied

        stored = await documents.confirm_created(self._transact(store), reference, execution)
        return occupancy.read_occupancy(await occupancy_at.get()) if stored is None else stored

    async def next_queued(self, owner: str, *, now: datetime) -> Sequence[str]:
        occupied, plan = await self._read_occupancy(owner)
        return () if plan is None else occupied.find_next(most=plan.executions_running, now=now)

    async def get(self, execution: str) -> Execution | None:
        return _read_or_none(await places.locate_execution(self._client, execution).get())

    async def list(self, owner: str, *, task: str | None = None, most: int = 50) -> Sequence[Execution]:
        from google.cloud.firestore import Query

        query = filter_by(self._client.collection("executions"), ("owner", "==", owner))
        if task is not None:
            query = filter_by(query, ("task", "==", task))
        query = query.order_by("created_at", direction=Query.DESCENDING).limit(most)
        return [execution async for snapshot in query.stream() if (execution := _read_or_none(snapshot)) is not None]

    async def claim(
        self, execution: str, *, slice: int, holder: str, now: datetime, lease: timedelta
    ) -> tuple[Execution, bool]:
        client = self._client
        reference = places.locate_execution(client, execution)
        unsettled = filter_by(reference.collection("calls"), ("state", "in", UNSETTLED))

        async def take(transaction: AsyncTransaction) -> tuple[Execution, bool]:
            try:
                current = await _read(transaction, execution, client)
            except documents.UnreadableDocumentError:
                # it would be delivered for ever: its author reads why in the document itself
                ended = Execution(id=execution, task="", owner="", status=Status.FAILED, error=UNREADABLE, created_at=now)
                failure = {**documents.write_fields(ended, "status", "error"), "completed_at": now}
                transaction.update(reference, failure | self._retention.expire(now))
                return ended, False
            claimed = rules.acquire_lease(current, slice=slice, holder=holder, now=now, length=lease)
            if claimed is None:
                return current, False
            occupied = await self._take_slot(transaction, current, claimed, now)
            is_first = claimed.epoch == 1
            tickets = [] if is_first else [ticket.reference async for ticket in unsettled.stream(transaction=transaction)]
            occupancy.store_occupancy(transaction, client, current.owner, occupied)
            transaction.update(reference, documents.write_fields(claimed, "status", "started_at", "lease"))
            for ticket_at in tickets:
                transaction.update(ticket_at, {"epoch": claimed.epoch})
            return claimed, True

        return await self._transact(take)

    async def _take_slot(
        self, transaction: AsyncTransaction, current: Execution, claimed: Execution, now: datetime
    ) -> Occupancy:
        """Return the owner's occupancy with `claimed` running, for the claim's transaction. Raise `NoFreeSlotError`."""
        occupied, plan = await self._read_occupancy(current.owner, transaction)
        if plan is not None and not occupied.has_slot(current, most=plan.executions_running):
            # Expired leases are looked up before anybody waits for one. Outside of the transaction: an execution without a
            # lease acquires one only in a transaction that writes the same occupancy.
            doubtful = occupied.find_doubtful(besides=current.id, now=now)
            references = [places.locate_execution(self._client, name) for name in doubtful]
            snapshots = await read_together(self._client, references) if references else {}
            occupied = occupied.confirm(doubtful, filter(None, map(_read_or_none, snapshots.values())), now=now)
            if not occupied.has_slot(current, most=plan.executions_running):
                raise NoFreeSlotError(current, queued=len(occupied.queued))
        return occupied.run(claimed)

    async def _read_occupancy(self, owner: str, transaction: AsyncTransaction | None = None) -> tuple[Occupancy, Plan | None]:
        occupancy_at, owner_at = places.locate_occupancy(self._client, owner), places.locate_owner(self._client, owner)
        snapshots = await read_together(self._client, [occupancy_at, owner_at], transaction)
        plan = occupancy.find_plan(snapshots[owner_at.path], self._plans)
        return occupancy.read_occupancy(snapshots[occupancy_at.path]), plan

    async def open(
        self,
        execution: Execution,
        opening: ExecutionSetup,
        *,
        entry: LedgerEntry,
        receipts: tuple[Receipt, ...] = (),
        now: datetime,
    ) -> None:
        client = self._client
        expiry = self._retention.expire_below(execution, now)

        async def store(transaction: AsyncTransaction) -> None:
            await _read_fence(transaction, execution, client, now)
            owner, task = await _read_balances(transaction, execution, client, now)
            reserve = opening.max_credits
            for balance in reserve_credits(execution.policy, reserve, owner=owner, task=task):
                transaction.set(places.locate_balance(client, balance.id), documents.write(balance))
            _create_entry(transaction, client, entry)
            _update(transaction, client, replace(execution, credits_reserved=reserve), transitions.SETUP_FIELDS)
            create_receipts(client, transaction, receipts, expiry)
            transaction.set(places.locate_step(client, execution.id, 0), documents.write(opening) | expiry)

        await self._transact(store)

    async def ask(self, execution: Execution, *, now: datetime, lease: timedelta) -> Execution:
        client = self._client

        async def store(transaction: AsyncTransaction) -> Execution:
            current = await _read_unhalted(transaction, execution, client)
            fence = rules.check_fence(current, execution, now)
            if current.cancel_requested:
                return replace(execution, cancel_requested=True)
            after = replace(execution, lease=replace(fence, expires_at=now + lease))
            _update(transaction, client, after, transitions.LEASE_FIELDS)
            return after

        return await self._transact(store)

    async def commit(self, execution: Execution, turn: TurnCommit, *, now: datetime, lease: timedelta) -> Execution:
        client = self._client
        expiry = self._retention.expire_below(execution, now)

        async def store(transaction: AsyncTransaction) -> Execution:
            fence = await _read_fence(transaction, execution, client, now)
            after = replace(execution, lease=replace(fence, expires_at=now + lease))
            _update(transaction, client, after, transitions.TURN_FIELDS)
            transaction.create(places.locate_step(client, execution.id, turn.step.number), documents.write(turn.step) | expiry)
            _create_entry(transaction, client, turn.entry)
            create_receipts(client, transaction, turn.receipts, expiry)
            for ticket in turn.tickets:
                transaction.create(places.locate_call(client, execution.id, ticket.seq), documents.write(ticket) | expiry)
            return after

        return await self._transact(store)

    async def renew(self, execution: Execution, *, now: datetime, lease: timedelta) -> Execution:
        client = self._client

        async def store(transaction: AsyncTransaction) -> Execution:
            current = await _read_unhalted(transaction, execution, client)
            after = replace(execution, lease=replace(rules.check_fence(current, execution, now), expires_at=now + lease))
            _update(transaction, client, after, ("lease",))
            return replace(after, cancel_requested=current.cancel_requested)

        return await self._transact(store)

    async def settle(
        self, execution: Execution, seq: int, result: ToolCallResult, *, now: datetime, in_doubt: bool = False
    ) -> Ticket:
        client = self._client
        ticket_at = places.locate_call(client, execution.id, seq)

        async def store(transaction: AsyncTransaction) -> Ticket:
            await _read_fence(transaction, execution, client, now)
            ticket = documents.read(Ticket, (await ticket_at.get(transaction=transaction)).to_dict())
            if ticket.result is not None:
                return ticket  # the tool answered after all
            settled = transitions.settle_ticket(ticket, result, now=now, in_doubt=in_doubt)
            transaction.update(ticket_at, documents.write_fields(settled, *transitions.RESULT_FIELDS))
            return settled

        return await self._transact(store)

    async def give_up(self, execution: Execution, *, now: datetime) -> None:
        await self._release(execution, rules.release_lease, now=now)

    async def hand_over(self, execution: Execution, *, now: datetime) -> int:
        return (await self._release(execution, rules.hand_over_slice, now=now)).slice

    async def _release(
        self, execution: Execution, release: Callable[[Execution, Execution, datetime], Execution], *, now: datetime
    ) -> Execution:
        client = self._client

        async def store(transaction: AsyncTransaction) -> Execution:
            after = release(await _read(transaction, execution.id, client), execution, now)
            occupancy.free_slot(transaction, client, execution)
            _update(transaction, client, after, (*transitions.LEASE_FIELDS, "slice"))
            return after

        return await self._transact(store)

    async def finish(self, execution: Execution, ending: ExecutionEnding, *, now: datetime) -> bool:
        client = self._client

        async def store(transaction: AsyncTransaction) -> bool:
            current = await _read(transaction, execution.id, client)
            rules.check_fence(current, execution, now)
            if current.cancel_requested and not execution.cancel_requested:
                return False
            if ending.entry is not None:
                for balance in await _read_balances(transaction, execution, client, now):
                    settled = balance.settle(reserved=current.credits_reserved, used=execution.credits_used)
                    transaction.set(places.locate_balance(client, balance.id), documents.write(settled))
                _create_entry(transaction, client, ending.entry)
            ended = ending.apply(execution, now=now)
            _update(transaction, client, ended, transitions.ENDING_FIELDS, self._retention.expire(now))
            occupancy.free_slot(transaction, client, execution)
            create_receipts(client, transaction, ending.receipts, self._retention.expire_below(execution, now))
            return True

        return await self._transact(store)

    async def cancel(self, execution: str, *, now: datetime) -> Execution | None:
        client = self._client

        async def flag(transaction: AsyncTransaction) -> Execution | None:
            snapshot = await places.locate_execution(client, execution).get(transaction=transaction)
            current = documents.read_or_none(Execution, snapshot)
            if current is None or current.status.terminal:
                return current
            after = transitions.cancel_execution(current, now=now)
            if after.status.terminal:
                occupancy.free_slot(transaction, client, current)
            expiry = self._retention.expire(now) if after.status.terminal else {}
            transaction.update(snapshot.reference, documents.write_fields(after, *transitions.CANCEL_FIELDS) | expiry)
            return after

        return await self._transact(flag)

    async def opening(self, execution: str) -> ExecutionSetup | None:
        return documents.read_or_none(ExecutionSetup, await places.locate_step(self._client, execution, 0).get())

    async def steps(self, execution: str, *, after: int = 0) -> Sequence[Step]:
        collection = places.locate_execution(self._client, execution).collection("steps")
        return await documents.read_all(Step, filter_by(collection, ("number", ">", after)).order_by("number"))

    async def tickets(self, execution: str, *, first: int = 0) -> Sequence[Ticket]:
        collection = places.locate_execution(self._client, execution).collection("calls")
        return await documents.read_all(Ticket, filter_by(collection, ("seq", ">=", first)).order_by("seq"))

    async def receipts(self, execution: str) -> Sequence[Receipt]:
        collection = places.locate_execution(self._client, execution).collection("receipts")
        commits = await documents.read_all(StoredReceipts, collection.order_by("first"))
        return [receipt for commit in commits for receipt in commit.entries]


def _update(
    transaction: AsyncTransaction,
    client: AsyncClient,
    execution: Execution,
    fields: Sequence[str],
    expiry: Mapping[str, Any] | None = None,
) -> None:
    document = documents.write_fields(execution, *fields)
    transaction.update(places.locate_execution(client, execution.id), {**document, **(expiry or {})})


def _create_entry(transaction: AsyncTransaction, client: AsyncClient, entry: LedgerEntry | None) -> None:
    if entry is not None:
        transaction.create(places.locate_entry(client, entry.id), documents.write(entry))


async def _read(transaction: AsyncTransaction, execution: str, client: AsyncClient) -> Execution:
    snapshot = await places.locate_execution(client, execution).get(transaction=transaction)
    if not snapshot.exists:
        raise KeyError(execution)
    current = documents.read(Execution, snapshot.to_dict())
    if current.id != execution:
        raise documents.UnreadableDocumentError("the document names another execution")
    return current


def _read_or_none(snapshot: DocumentSnapshot[Any]) -> Execution | None:
    try:
        execution = documents.read_or_none(Execution, snapshot)
    except documents.UnreadableDocumentError:
        return None
    return execution if execution is not None and execution.id == snapshot.id else None


async def _read_unhalted(transaction: AsyncTransaction, execution: Execution, client: AsyncClient) -> Execution:
    """Return the execution as it is stored, read together with its task and the kill switches.

    Raise `HaltedError` or `TaskDisabledError`.
    """
    reference, task = places.locate_execution(client, execution.id), places.locate_task(client, execution.task)
    references = [reference, task, *list_switches(client, execution.owner)]
    snapshots = await read_together(client, references, transaction)
    reason = read_halt_reason(snapshots, client, execution.owner, execution.created_at)
    if reason is not None:
        raise HaltedError(reason)
    if not (snapshots[task.path].to_dict() or {}).get("enabled", False):
        raise TaskDisabledError(DISABLED)
    return documents.read(Execution, snapshots[reference.path].to_dict())


async def _read_fence(transaction: AsyncTransaction, execution: Execution, client: AsyncClient, now: datetime) -> Lease:
    return rules.check_fence(await _read(transaction, execution.id, client), execution, now)


async def _read_balances(
    transaction: AsyncTransaction, execution: Execution, client: AsyncClient, now: datetime
) -> tuple[CreditBalance, CreditBalance]:
    """Return the balances of owner and task, in the month of `now`."""
    names = (name_owner_balance(execution.owner), name_task_balance(execution.task))
    references = [places.locate_balance(client, name) for name in names]
    snapshots = await read_together(client, references, transaction)
    owner, task = (
        (documents.read_or_none(CreditBalance, snapshots[reference.path]) or CreditBalance(id=name)).at(now)
        for name, reference in zip(names, references, strict=True)
    )
    return owner, task
