"""Executions in memory: every write of a holder is fenced by its lease's epoch."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from ferryman.domain.calls.brief import to_brief
from ferryman.domain.calls.call import Ticket, TicketState, ToolCallResult
from ferryman.domain.conversations.conversation import is_next
from ferryman.domain.copies import replace
from ferryman.domain.credits.alert import Alert, build_refusal_alert, find_alerts, select_pending
from ferryman.domain.credits.balance import CreditBalance, name_owner_balance, reserve_credits, settle_credits
from ferryman.domain.credits.conversation import join_conversations, name_conversation_balance, split_conversation
from ferryman.domain.credits.ledger import LedgerEntry
from ferryman.domain.credits.shortage import InsufficientCreditsError
from ferryman.domain.executions import lease as rules
from ferryman.domain.executions import waiting
from ferryman.domain.executions.execution import Execution, ExecutionSetup, ExecutionSummary, Lease, Step
from ferryman.domain.executions.halt import DISABLED
from ferryman.domain.executions.occupancy import AnswerNotNextError, NoFreeSlotError, Occupancy
from ferryman.domain.files.kept import Overflow
from ferryman.domain.files.quota import FileQuota, close_write
from ferryman.domain.files.writes import ClosedWrite
from ferryman.domain.metering.event import UsageEvent
from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.page import Page, Position
from ferryman.domain.receipts.receipt import Receipt
from ferryman.inmemory import keyed
from ferryman.inmemory.conversations import end_in_conversation
from ferryman.inmemory.live import MemoryLiveTurns
from ferryman.inmemory.owners import MemoryHalts
from ferryman.inmemory.pages import cut_page, locate
from ferryman.inmemory.requests import MemoryRequests
from ferryman.ports.errors import HaltedError, NotAdmittedError, TaskDisabledError
from ferryman.ports.executions import ALL, ExecutionEnding, Filter, TurnCommit


class MemoryExecutions(MemoryRequests, MemoryLiveTurns):
    """`ports.Executions`."""

    async def start(self, execution: Execution, *, most: int, done: Completion | None = None) -> Occupancy:
        keyed.check_completion(self._memory, done)
        task = self._memory.tasks.get(execution.task)
        if task is None or not task.enabled:
            raise TaskDisabledError(DISABLED)
        if execution.id in self._memory.executions:
            raise ValueError("the execution exists already")
        occupied = self._occupied(execution.owner).enqueue(execution, most=most)
        self._memory.occupancy[execution.owner] = occupied
        self._memory.executions[execution.id] = self._keep(execution)
        keyed.store_completion(self._memory, done)
        return occupied

    async def next_queued(self, owner: str, *, now: datetime) -> Sequence[str]:
        plan = self._find_plan(owner)
        return () if plan is None else self._occupied(owner).find_next(most=plan.executions_running, now=now)

    async def list_unfinished(self, owner: str) -> Sequence[str]:
        return self._occupied(owner).list_unfinished()

    async def get(self, execution: str) -> Execution | None:
        return self._memory.executions.get(execution)

    async def list(
        self, workspace: str, *, which: Filter = ALL, after: Position | None = None, most: int = 50
    ) -> Page[ExecutionSummary]:
        executions = (execution for execution in self._memory.executions.values() if execution.workspace == workspace)
        newest = sorted(filter(which.passes, executions), key=locate, reverse=True)
        return cut_page([execution for execution in newest if after is None or locate(execution) < after], most)

    async def claim(
        self, execution: str, *, slice: int, holder: str, now: datetime, lease: timedelta
    ) -> tuple[Execution, bool]:
        if execution not in self._memory.executions and execution in {**self._memory.requests, **self._memory.refused}:
            raise NotAdmittedError(execution)
        current = self._memory.executions[execution]
        claimed = rules.acquire_lease(current, slice=slice, holder=holder, now=now, length=lease)
        if claimed is None:
            return current, False
        conversation = self._memory.conversations.get(current.conversation) if current.answer else None
        if conversation is not None and not current.cancel_requested and not is_next(conversation, current.answer):
            raise AnswerNotNextError(current)
        self._take_slot(current, claimed, now)
        for ticket in tuple(self._tickets(execution).values()):
            if ticket.state is not TicketState.SETTLED:
                self._tickets(execution)[ticket.seq] = replace(ticket, epoch=claimed.epoch)
        return self._put(claimed), True

    async def open(
        self,
        execution: Execution,
        opening: ExecutionSetup,
        *,
        entry: LedgerEntry,
        receipts: tuple[Receipt, ...] = (),
        now: datetime,
    ) -> None:
        current, _ = self._check_fence(execution, now)
        reserve = opening.max_credits
        self._reserve(execution, reserve, now)
        self._memory.entries[entry.id] = entry
        self._add_receipts(execution.id, receipts)
        self._update(current, replace(execution, credits_reserved=reserve), rules.SETUP_FIELDS)
        self._memory.openings[execution.id] = opening

    async def check(self, execution: Execution, *, now: datetime) -> Execution:
        current, _ = self._check_fence(execution, now)
        await self._check_switches(current)
        return replace(execution, cancel_requested=current.cancel_requested)

    async def ask(self, execution: Execution, *, now: datetime, lease: timedelta) -> Execution:
        current, fence = self._check_fence(execution, now)
        await self._check_switches(current)
        if current.cancel_requested:
            return replace(execution, cancel_requested=True)
        after = replace(execution, lease=replace(fence, expires_at=now + lease))
        self._update(current, after, rules.LEASE_FIELDS)
        return after

    async def commit(self, execution: Execution, turn: TurnCommit, *, now: datetime, lease: timedelta) -> Execution:
        current, fence = self._check_fence(execution, now)
        steps, tickets = self._memory.steps.setdefault(execution.id, {}), self._tickets(execution.id)
        if turn.step.number in steps or any(ticket.seq in tickets for ticket in turn.tickets):
            raise ValueError("the turn exists already")
        self._add_receipts(execution.id, turn.receipts)
        steps[turn.step.number] = turn.step
        tickets.update((ticket.seq, ticket) for ticket in turn.tickets)
        after = replace(execution, lease=replace(fence, expires_at=now + lease))
        if turn.entry is not None:
            self._memory.entries[turn.entry.id] = turn.entry
        self._add_usage(turn.usage_event)
        self._update(current, after, rules.list_turn_fields(after))
        return after

    async def journal_sub_calls(
        self, execution: Execution, tickets: Sequence[Ticket], *, receipts: tuple[Receipt, ...], now: datetime
    ) -> Execution:
        current, _ = self._check_fence(execution, now)
        if any(ticket.seq in self._tickets(execution.id) for ticket in tickets):
            raise ValueError("the calls exist already")
        self._add_receipts(execution.id, receipts)
        self._tickets(execution.id).update((ticket.seq, ticket) for ticket in tickets)
        self._update(current, execution, rules.PLAN_FIELDS)
        return execution

    async def renew(self, execution: Execution, *, now: datetime, lease: timedelta) -> Execution:
        current, fence = self._check_fence(execution, now)
        await self._check_switches(current)
        after = replace(execution, lease=replace(fence, expires_at=now + lease))
        self._update(current, after, ("lease",))
        return replace(after, cancel_requested=current.cancel_requested)

    async def settle(
        self, execution: Execution, seq: int, result: ToolCallResult, *, now: datetime, in_doubt: bool = False
    ) -> Ticket:
        self._check_fence(execution, now)
        ticket = self._tickets(execution.id)[seq]
        if ticket.result is not None:
            return ticket  # the tool answered after all
        settled = rules.settle_ticket(ticket, result, now=now, in_doubt=in_doubt)
        self._tickets(execution.id)[seq] = settled
        return settled

    async def read_overflow(self, execution: str, seq: int) -> Overflow | None:
        return self._memory.overflows.get(execution, {}).get(seq)

    async def settle_answered(
        self, execution: Execution, seq: int, result: ToolCallResult, write: ClosedWrite | None, *, now: datetime
    ) -> Ticket:
        self._check_fence(execution, now)
        ticket = self._tickets(execution.id)[seq]
        if not ticket.is_answered:
            return ticket
        if write is not None:
            quotas, workspace = self._memory.file_quotas, execution.context.workspace
            quotas[workspace] = close_write(quotas.get(workspace, FileQuota(id=workspace)), write.name, write.writes)
        self._memory.overflows.get(execution.id, {}).pop(seq, None)
        settled = rules.settle_ticket(ticket, result, now=now, in_doubt=False)
        self._tickets(execution.id)[seq] = settled
        return settled

    async def give_up(self, execution: Execution, *, now: datetime) -> None:
        self._put(rules.release_lease(self._memory.executions[execution.id], execution, now))
        self._suspend(execution, now)

    async def hand_over(self, execution: Execution, *, now: datetime) -> int:
        following = self._put(rules.hand_over_slice(self._memory.executions[execution.id], execution, now)).slice
        self._suspend(execution, now)
        return following

    async def park(self, execution: Execution, *, waiting_for: str, keep: Decimal, now: datetime) -> int:
        current = self._memory.executions[execution.id]
        parked = waiting.park_execution(current, execution, waiting_for=waiting_for, keep=keep, now=now)
        returned = current.credits_reserved - parked.credits_reserved
        balance = settle_credits(self._read_balance(current, now), current, reserved=returned, used=Decimal(0))
        self._store_balance(balance, current, now)
        self._suspend(self._put(parked), now)
        return parked.slice

    async def resume(self, execution: Execution, *, reserve: Decimal, now: datetime) -> Execution:
        current, _ = self._check_fence(execution, now)
        resumed = waiting.resume_execution(current, execution, reserve=reserve, now=now)
        self._reserve(current, resumed.credits_reserved - current.credits_reserved, now)
        self._update(current, resumed, rules.WAITING_FIELDS)
        return resumed

    async def finish(self, execution: Execution, ending: ExecutionEnding, *, now: datetime) -> Sequence[str] | None:
        current, _ = self._check_fence(execution, now)
        if current.cancel_requested and not execution.cancel_requested:
            return None
        alerts: list[Alert] = []
        self._add_receipts(execution.id, ending.receipts)
        if ending.entry is not None:
            self._memory.entries[ending.entry.id] = ending.entry
            balance = self._read_balance(execution, now)
            settled = settle_credits(balance, current, reserved=current.credits_reserved, used=execution.credits_used)
            crossed = find_alerts(balance, settled, current, now=now)
            alerts = [alert for alert in crossed if alert.id not in self._memory.alerts]
            self._memory.alerts.update((alert.id, alert) for alert in alerts)
            self._store_balance(settled, current, now)
        self._free_slot(execution)
        self._add_usage(ending.usage_event)
        ended = ending.apply(execution, now=now)
        end_in_conversation(self._memory, ended, ending.message, now, title=ending.title)
        self._update(current, ended, rules.ENDING_FIELDS)
        return select_pending(alerts)

    async def list_unsent_alerts(self, execution: str) -> Sequence[str]:
        return select_pending([alert for alert in self._memory.alerts.values() if alert.execution == execution])

    async def cancel(self, execution: str, *, by: str, now: datetime) -> Execution | None:
        current = self._memory.executions.get(execution)
        if current is None or current.status.terminal:
            return current
        after = rules.cancel_execution(current, by=by, now=now)
        if after.status.terminal:
            self._free_slot(current)
            end_in_conversation(self._memory, after, None, now)
        return self._put(after)

    async def opening(self, execution: str) -> ExecutionSetup | None:
        return self._memory.openings.get(execution)

    async def steps(self, execution: str, *, after: int = 0, most: int | None = None) -> Sequence[Step]:
        steps = self._memory.steps.get(execution, {})
        return [steps[number] for number in sorted(steps) if number > after][:most]

    async def tickets(self, execution: str, *, first: int = 0, most: int | None = None) -> Sequence[Ticket]:
        tickets = self._memory.tickets.get(execution, {})
        return [tickets[seq] for seq in sorted(tickets) if seq >= first][:most]

    async def brief_steps(self, execution: str, *, after: int, most: int) -> Sequence[Step]:
        return [replace(step, content=()) for step in await self.steps(execution, after=after, most=most)]

    async def brief_tickets(self, execution: str, *, first: int, most: int) -> Sequence[Ticket]:
        return [to_brief(ticket) for ticket in await self.tickets(execution, first=first, most=most)]

    async def receipts(self, execution: str, *, first: int = 0, most: int | None = None) -> Sequence[Receipt]:
        stored = self._memory.receipts.get(execution, {})
        return [receipt for number in sorted(stored) for receipt in stored[number] if receipt.number >= first][:most]

    def _add_receipts(self, execution: str, receipts: tuple[Receipt, ...]) -> None:
        stored = self._memory.receipts.setdefault(execution, {})
        if receipts and receipts[0].number in stored:
            raise ValueError("the receipts exist already")
        if receipts:
            stored[receipts[0].number] = receipts

    def _add_usage(self, event: UsageEvent | None) -> None:
        if event is not None:
            self._memory.usage_events[event.id] = event

    def _take_slot(self, current: Execution, claimed: Execution, now: datetime) -> None:
        occupied, plan = self._occupied(current.owner), self._find_plan(current.owner)
        if plan is not None and not occupied.has_slot(current, most=plan.executions_running):
            doubtful = occupied.find_doubtful(besides=current.id, now=now)
            executions = [self._memory.executions[name] for name in doubtful if name in self._memory.executions]
            occupied = occupied.confirm(doubtful, executions, now=now)
            if not occupied.has_slot(current, most=plan.executions_running):
                raise NoFreeSlotError(current, queued=len(occupied.queued))
        self._memory.occupancy[current.owner] = occupied.run(claimed)

    def _free_slot(self, execution: Execution) -> None:
        self._memory.occupancy[execution.owner] = self._occupied(execution.owner).leave(execution.id)

    def _suspend(self, execution: Execution, now: datetime) -> None:
        self._memory.occupancy[execution.owner] = self._occupied(execution.owner).suspend(execution.id, now)

    def _tickets(self, execution: str) -> dict[int, Ticket]:
        return self._memory.tickets.setdefault(execution, {})

    def _put(self, execution: Execution) -> Execution:
        self._memory.executions[execution.id] = execution
        return execution

    def _update(self, current: Execution, after: Execution, fields: Sequence[str]) -> None:
        change: dict[str, Any] = {name: getattr(after, name) for name in fields}
        self._put(replace(current, **change))

    def _check_fence(self, execution: Execution, now: datetime) -> tuple[Execution, Lease]:
        current = self._memory.executions[execution.id]
        return current, rules.check_fence(current, execution, now)

    def _reserve(self, execution: Execution, amount: Decimal, now: datetime) -> None:
        before = self._read_balance(execution, now)
        try:
            balance = reserve_credits(before, execution, amount)
        except InsufficientCreditsError as error:
            if execution.titled_answer:
                raise
            alert = build_refusal_alert(error.shortage, execution, before, now=now)
            stored = self._memory.alerts.setdefault(alert.id, alert)
            raise InsufficientCreditsError(error.shortage, alert=next(iter(select_pending([stored])), "")) from None
        self._store_balance(balance, execution, now)

    def _read_balance(self, execution: Execution, now: datetime) -> CreditBalance:
        name = name_owner_balance(execution.owner)
        balance = self._memory.balances.get(name, CreditBalance(id=name)).at(now)
        conversation = self._memory.conversation_balances.get(name_conversation_balance(execution))
        return join_conversations(balance, [conversation] if conversation is not None else [])

    def _store_balance(self, balance: CreditBalance, execution: Execution, now: datetime) -> None:
        rest, conversation = split_conversation(balance, execution, now=now)
        self._memory.balances[rest.id] = rest
        self._memory.conversation_balances.pop(name_conversation_balance(execution), None)
        if conversation is not None:
            self._memory.conversation_balances[conversation.id] = conversation

    async def _check_switches(self, execution: Execution) -> None:
        reason = await MemoryHalts(self._memory).find_halt_reason(execution.owner, created=execution.created_at)
        if reason is not None:
            raise HaltedError(reason)
        task = self._memory.tasks.get(execution.task)
        if task is None or not task.enabled:
            raise TaskDisabledError(DISABLED)
