"""Executions in Firestore: leases with fencing tokens (the epoch), and a write-ahead journal of turns and calls.

Every write of a holder is checked against the stored epoch in the transaction that makes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

from ferryman.domain.calls.call import Ticket, TicketState, ToolCallResult
from ferryman.domain.conversations.conversation import is_next
from ferryman.domain.copies import replace
from ferryman.domain.credits.alert import Alert, find_alerts, select_pending
from ferryman.domain.credits.balance import reserve_credits, settle_credits
from ferryman.domain.credits.ledger import LedgerEntry
from ferryman.domain.credits.shortage import InsufficientCreditsError
from ferryman.domain.executions import lease as rules
from ferryman.domain.executions.execution import Execution, ExecutionSetup, ExecutionSummary, Status
from ferryman.domain.executions.halt import DISABLED
from ferryman.domain.executions.occupancy import AnswerNotNextError, NoFreeSlotError, Occupancy
from ferryman.domain.executions.retention import freeze_retention
from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.owners.plan import PLANS, Plan
from ferryman.domain.page import Page, Position
from ferryman.domain.receipts.receipt import Receipt
from ferryman.gcp import checked_executions, documents, keyed, occupancy, turns
from ferryman.gcp.alerts import create_alerts, read_new, store_refusal
from ferryman.gcp.answers import FirestoreAnswers
from ferryman.gcp.balances import read_balance, store_balance
from ferryman.gcp.conversations import end_in_conversation, read_conversation
from ferryman.gcp.execution_documents import (
    IS_EXECUTION,
    IS_WAITING,
    SUMMARY_FIELDS,
    read_execution,
    read_summary,
    write_execution,
)
from ferryman.gcp.firestore import FirestoreClient
from ferryman.gcp.halts import list_switches, read_halt_reason
from ferryman.gcp.journal import FirestoreJournal
from ferryman.gcp.lasting import set_expiry_below
from ferryman.gcp.live import FirestoreLiveTurns
from ferryman.gcp.pages import read_page
from ferryman.gcp.parking import FirestoreParking
from ferryman.gcp.requests import FirestoreRequests
from ferryman.gcp.retention import Retention, read_workspace_days
from ferryman.gcp.store import Transaction, filter_by, get_readable, in_transaction, read_together
from ferryman.ports.errors import HaltedError, NotAdmittedError, TaskDisabledError
from ferryman.ports.executions import ALL, ExecutionEnding, Filter, TurnCommit

UNSETTLED = [state.value for state in TicketState if state is not TicketState.SETTLED]


class FirestoreExecutions(FirestoreParking, FirestoreRequests, FirestoreAnswers, FirestoreJournal, FirestoreLiveTurns):
    """`ports.Executions`."""

    def __init__(self, clients: FirestoreClient, retention: Retention | None = None, plans: Mapping[str, Plan] = PLANS) -> None:
        super().__init__(clients, retention)
        self._plans = plans
        self._checked = checked_executions.CheckedExecutions()

    async def start(self, execution: Execution, *, most: int, done: Completion | None = None) -> Occupancy:
        reference = self._places.locate_execution(execution.id)
        stored = await documents.confirm_created(self._start(execution, most, done), reference, execution)
        if stored is not None:
            return stored
        return occupancy.read_occupancy(await self._places.locate_occupancy(execution.owner).get())

    @in_transaction
    async def _start(self, transaction: Transaction, execution: Execution, most: int, done: Completion | None) -> Occupancy:
        places = self._places
        task, occupancy_at = places.locate_task(execution.task), places.locate_occupancy(execution.owner)
        workspace_at = places.locate_workspace(execution.workspace)
        answered = await keyed.read_completion(transaction, places, done)
        snapshots = await read_together(self._client, [task, occupancy_at, workspace_at], transaction)
        if not (snapshots[task.path].to_dict() or {}).get("enabled", False):
            raise TaskDisabledError(DISABLED)
        occupied = occupancy.read_occupancy(snapshots[occupancy_at.path]).enqueue(execution, most=most)
        occupancy.store_occupancy(transaction, places, execution.owner, occupied)
        stored = freeze_retention(execution, read_workspace_days(snapshots[workspace_at.path]))
        transaction.create(places.locate_execution(execution.id), write_execution(stored))
        keyed.store_completion(transaction, places, answered)
        return occupied

    async def next_queued(self, owner: str, *, now: datetime) -> Sequence[str]:
        occupied, plan = await self._read_occupancy(owner)
        return () if plan is None else occupied.find_next(most=plan.executions_running, now=now)

    async def list_unfinished(self, owner: str) -> Sequence[str]:
        return occupancy.read_occupancy(await self._places.locate_occupancy(owner).get()).list_unfinished()

    async def get(self, execution: str) -> Execution | None:
        snapshot = await get_readable(self._places.locate_execution(execution))
        return None if snapshot is None else read_execution(snapshot)

    async def list(
        self, workspace: str, *, which: Filter = ALL, after: Position | None = None, most: int = 50
    ) -> Page[ExecutionSummary]:
        query = filter_by(self._client.collection("executions"), IS_EXECUTION, ("workspace", "==", workspace))
        if which.is_waiting:
            query = filter_by(query, (IS_WAITING, "==", True))
        status = None if which.is_waiting and which.status is Status.RUNNING else which.status  # whatever waits is running
        for name, value in (("task", which.task), ("agent", which.agent), ("status", status)):
            if value is not None:
                query = filter_by(query, (name, "==", str(value)))
        return await read_page(
            query, read_summary, names=SUMMARY_FIELDS, since=which.since, after=after, most=most, newest_first=True
        )

    @in_transaction
    async def claim(
        self, transaction: Transaction, execution: str, *, slice: int, holder: str, now: datetime, lease: timedelta
    ) -> tuple[Execution, bool]:
        reference = self._places.locate_execution(execution)
        current = await self._read(transaction, execution)
        claimed = rules.acquire_lease(current, slice=slice, holder=holder, now=now, length=lease)
        if claimed is None:
            return current, False
        conversation = await read_conversation(self._places, current, transaction) if current.answer else None
        if conversation is not None and not current.cancel_requested and not is_next(conversation, current.answer):
            raise AnswerNotNextError(current)
        occupied = await self._take_slot(transaction, current, claimed, now)
        unsettled = filter_by(reference.collection("calls"), ("state", "in", UNSETTLED))
        is_first = claimed.epoch == 1
        tickets = [] if is_first else [ticket.reference async for ticket in unsettled.stream(transaction=transaction)]
        occupancy.store_occupancy(transaction, self._places, current.owner, occupied)
        transaction.update(reference, documents.write_fields(claimed, "status", "started_at", "lease"))
        for ticket_at in tickets:
            transaction.update(ticket_at, {"epoch": claimed.epoch})
        return claimed, True

    async def _take_slot(self, transaction: Transaction, current: Execution, claimed: Execution, now: datetime) -> Occupancy:
        """Return the owner's occupancy with `claimed` running, for the claim's transaction. Raise `NoFreeSlotError`."""
        occupied, plan = await self._read_occupancy(current.owner, transaction)
        if not occupied.admits(current):
            raise NotAdmittedError(current.id)
        if plan is not None and not occupied.has_slot(current, most=plan.executions_running):
            # Expired leases are looked up before anybody waits for one. Outside of the transaction: an execution without a
            # lease acquires one only in a transaction that writes the same occupancy.
            doubtful = occupied.find_doubtful(besides=current.id, now=now)
            references = [self._places.locate_execution(name) for name in doubtful]
            snapshots = await read_together(self._client, references) if references else {}
            occupied = occupied.confirm(doubtful, filter(None, map(read_execution, snapshots.values())), now=now)
            if not occupied.has_slot(current, most=plan.executions_running):
                raise NoFreeSlotError(current, queued=len(occupied.queued))
        return occupied.run(claimed)

    async def _read_occupancy(self, owner: str, transaction: Transaction | None = None) -> tuple[Occupancy, Plan | None]:
        occupancy_at, owner_at = self._places.locate_occupancy(owner), self._places.locate_owner(owner)
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
        refused = await self._open(execution, opening, entry, receipts, now)
        if refused is not None:
            raise refused

    @in_transaction
    async def _open(
        self,
        transaction: Transaction,
        execution: Execution,
        opening: ExecutionSetup,
        entry: LedgerEntry,
        receipts: tuple[Receipt, ...],
        now: datetime,
    ) -> InsufficientCreditsError | None:
        """Do as `open` does, but return the error: the alert of a refusal is committed."""
        places, reserve = self._places, opening.max_credits
        expiry = self._retention.expire_below(execution, now)
        rules.check_fence(await self._read(transaction, execution.id), execution, now)
        before = await read_balance(self._client, transaction, execution, now=now)
        try:
            balance = reserve_credits(before, execution, reserve)
        except InsufficientCreditsError as error:
            if execution.titled_answer:
                return error
            return await store_refusal(self._client, transaction, error, execution, before, now=now)
        store_balance(transaction, places, balance, execution, now=now)
        self._create_entry(transaction, entry)
        self._update(transaction, replace(execution, credits_reserved=reserve), rules.SETUP_FIELDS)
        self._create(transaction, turns.place_step(places, execution.id, 0, opening, receipts, expiry))
        return None

    async def check(self, execution: Execution, *, now: datetime) -> Execution:
        checked = await checked_executions.read_checked(self._client, self._places, execution, now=now)
        self._checked.put(execution, checked)
        return replace(execution, cancel_requested=checked.cancel_requested)

    @in_transaction
    async def ask(self, transaction: Transaction, execution: Execution, *, now: datetime, lease: timedelta) -> Execution:
        current = await self._read_unhalted(transaction, execution)
        after = replace(execution, lease=replace(rules.check_fence(current, execution, now), expires_at=now + lease))
        if current.cancel_requested:
            return replace(execution, cancel_requested=True)
        self._update(transaction, after, rules.LEASE_FIELDS)
        return after

    async def commit(self, execution: Execution, turn: TurnCommit, *, now: datetime, lease: timedelta) -> Execution:
        expiry = self._retention.expire_below(execution, now)
        created = turns.list_created(self._places, execution, turn, expiry)
        checked = self._checked.take(execution)
        if checked is None or checked.lease.expires_at <= now:
            return await self._commit(execution, turn, created, now=now, lease=lease)
        after = replace(execution, lease=replace(checked.lease, expires_at=now + lease))
        change = documents.write_fields(after, *rules.list_turn_fields(after))
        reference = self._places.locate_execution(execution.id)
        if await turns.commit_unchanged(self._client, reference, change, created, since=checked.updated_at):
            return after
        return await self._commit(execution, turn, created, now=now, lease=lease)

    @in_transaction
    async def _commit(
        self,
        transaction: Transaction,
        execution: Execution,
        turn: TurnCommit,
        created: turns.Created,
        *,
        now: datetime,
        lease: timedelta,
    ) -> Execution:
        current = await self._read(transaction, execution.id)
        after = replace(execution, lease=replace(rules.check_fence(current, execution, now), expires_at=now + lease))
        if turn.receipts and current.receipts == execution.receipts:
            return after  # it was stored, and the answer was lost
        self._update(transaction, after, rules.list_turn_fields(after))
        self._create(transaction, created)
        return after

    @in_transaction
    async def journal_sub_calls(
        self,
        transaction: Transaction,
        execution: Execution,
        tickets: Sequence[Ticket],
        *,
        receipts: tuple[Receipt, ...],
        now: datetime,
    ) -> Execution:
        current = await self._read(transaction, execution.id)
        rules.check_fence(current, execution, now)
        if current.receipts == execution.receipts:
            return execution  # it was stored, and the answer was lost
        expiry = self._retention.expire_below(execution, now)
        self._update(transaction, execution, rules.PLAN_FIELDS)
        self._create(transaction, turns.list_calls(self._places, execution, tickets, expiry))
        self._create(transaction, turns.place_receipts(self._places, receipts, expiry))
        return execution

    @in_transaction
    async def renew(self, transaction: Transaction, execution: Execution, *, now: datetime, lease: timedelta) -> Execution:
        current = await self._read_unhalted(transaction, execution)
        after = replace(execution, lease=replace(rules.check_fence(current, execution, now), expires_at=now + lease))
        self._update(transaction, after, ("lease",))
        return replace(after, cancel_requested=current.cancel_requested)

    @in_transaction
    async def settle(
        self,
        transaction: Transaction,
        execution: Execution,
        seq: int,
        result: ToolCallResult,
        *,
        now: datetime,
        in_doubt: bool = False,
    ) -> Ticket:
        ticket_at = self._places.locate_call(execution.id, seq)
        rules.check_fence(await self._read(transaction, execution.id), execution, now)
        ticket = documents.read(Ticket, (await ticket_at.get(transaction=transaction)).to_dict())
        if ticket.result is not None:
            return ticket  # the tool answered after all
        settled = rules.settle_ticket(ticket, result, now=now, in_doubt=in_doubt)
        transaction.update(ticket_at, documents.write_fields(settled, *rules.RESULT_FIELDS))
        return settled

    async def give_up(self, execution: Execution, *, now: datetime) -> None:
        await self._release(execution, rules.release_lease, now)

    async def hand_over(self, execution: Execution, *, now: datetime) -> int:
        return (await self._release(execution, rules.hand_over_slice, now)).slice

    @in_transaction
    async def _release(
        self,
        transaction: Transaction,
        execution: Execution,
        release: Callable[[Execution, Execution, datetime], Execution],
        now: datetime,
    ) -> Execution:
        after = release(await self._read(transaction, execution.id), execution, now)
        occupancy.free_slot(transaction, self._places, execution, suspended=now)
        self._update(transaction, after, (*rules.LEASE_FIELDS, "slice"))
        return after

    async def finish(self, execution: Execution, ending: ExecutionEnding, *, now: datetime) -> Sequence[str] | None:
        if execution.waited_s:
            await set_expiry_below(self._client, execution, self._retention.expire_below(execution, now))
        return await self._finish(execution, ending, now)

    @in_transaction
    async def _finish(
        self, transaction: Transaction, execution: Execution, ending: ExecutionEnding, now: datetime
    ) -> Sequence[str] | None:
        current = await self._read(transaction, execution.id)
        rules.check_fence(current, execution, now)
        if current.cancel_requested and not execution.cancel_requested:
            return None
        conversation = await read_conversation(self._places, current, transaction)
        alerts: list[Alert] = []
        if ending.entry is not None:
            balance = await read_balance(self._client, transaction, execution, now=now)
            settled = settle_credits(balance, current, reserved=current.credits_reserved, used=execution.credits_used)
            alerts, _ = await read_new(self._client, transaction, find_alerts(balance, settled, current, now=now))
            store_balance(transaction, self._places, settled, current, now=now)
            self._create_entry(transaction, ending.entry)
            create_alerts(transaction, self._places, alerts)
        ended = ending.apply(execution, now=now)
        expiry = self._retention.expire(current.retention_days, now)
        end_in_conversation(transaction, self._places, conversation, ended, ending.message, expiry, title=ending.title)
        waited = {IS_WAITING: False} if current.waiting_for else {}
        self._update(transaction, ended, rules.ENDING_FIELDS, {**expiry, **waited})
        occupancy.free_slot(transaction, self._places, execution)
        expiry = self._retention.expire_below(execution, now)
        self._create(transaction, turns.place_receipts(self._places, ending.receipts, expiry))
        self._create(transaction, turns.place_usage(self._places, ending.usage_event))
        return select_pending(alerts)

    async def list_unsent_alerts(self, execution: str) -> Sequence[str]:
        query = filter_by(self._client.collection("alerts"), ("execution", "==", execution))
        return select_pending(await documents.read_all(Alert, query))

    @in_transaction
    async def cancel(self, transaction: Transaction, execution: str, *, by: str, now: datetime) -> Execution | None:
        snapshot = await get_readable(self._places.locate_execution(execution), transaction)
        current = None if snapshot is None else read_execution(snapshot)
        if snapshot is None or current is None or current.status.terminal:
            return current
        after = rules.cancel_execution(current, by=by, now=now)
        expiry = self._retention.expire(current.retention_days, now) if after.status.terminal else {}
        if after.status.terminal:
            conversation = await read_conversation(self._places, current, transaction)
            occupancy.free_slot(transaction, self._places, current)
            end_in_conversation(transaction, self._places, conversation, after, None, expiry)
        transaction.update(snapshot.reference, documents.write_fields(after, *rules.CANCEL_FIELDS) | expiry)
        return after

    async def _read_unhalted(self, transaction: Transaction, execution: Execution) -> Execution:
        """Return the execution as it is stored, read together with its task and the kill switches.

        Raise `HaltedError` or `TaskDisabledError`.
        """
        places = self._places
        reference, task = places.locate_execution(execution.id), places.locate_task(execution.task)
        references = [reference, task, *list_switches(places, execution.owner)]
        snapshots = await read_together(self._client, references, transaction)
        reason = read_halt_reason(snapshots, places, execution.owner, execution.created_at)
        if reason is not None:
            raise HaltedError(reason)
        if not (snapshots[task.path].to_dict() or {}).get("enabled", False):
            raise TaskDisabledError(DISABLED)
        current = read_execution(snapshots[reference.path])
        if current is None:
            raise NotAdmittedError(execution.id)
        return current
