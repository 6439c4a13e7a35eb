"""Executions in memory: every write of a holder is fenced by its lease's epoch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

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
from ferryman.inmemory import keyed
from ferryman.inmemory.halts import MemoryHalts
from ferryman.inmemory.memory import Memory
from ferryman.ports.errors import HaltedError, TaskDisabledError
from ferryman.ports.executions import ExecutionEnding, TurnCommit


class MemoryExecutions:
    """`ports.Executions`."""

    def __init__(self, memory: Memory, plans: Mapping[str, Plan] = PLANS) -> None:
        self._memory = memory
        self._plans = plans

    async def start(self, execution: Execution, *, most: int, done: Completion | None = None) -> Occupancy:
        keyed.check_completion(self._memory, done)
        task = self._memory.tasks.get(execution.task)
        if task is None or not task.enabled:
            raise TaskDisabledError(DISABLED)
        if execution.id in self._memory.executions:
            raise ValueError("the execution is there already")
        occupied = self._occupied(execution.owner).enqueue(execution, most=most)
        self._memory.occupancy[execution.owner] = occupied
        self._memory.executions[execution.id] = execution
        keyed.store_completion(self._memory, done)
        return occupied

    async def next_queued(self, owner: str, *, now: datetime) -> Sequence[str]:
        known = self._memory.owners.get(owner)
        plan = self._plans.get(known.plan) if known else None
        return () if plan is None else self._occupied(owner).find_next(most=plan.executions_running, now=now)

    async def get(self, execution: str) -> Execution | None:
        return self._memory.executions.get(execution)

    async def list(self, owner: str, *, task: str | None = None, most: int = 50) -> Sequence[Execution]:
        found = [each for each in self._memory.executions.values() if each.owner == owner and task in (None, each.task)]
        return sorted(found, key=lambda each: each.created_at, reverse=True)[:most]

    async def claim(
        self,
        execution: str,
        *,
        slice: int,
        holder: str,
        now: datetime,
        lease: timedelta,
    ) -> tuple[Execution, bool]:
        current = self._memory.executions[execution]
        taken = rules.acquire_lease(current, slice=slice, holder=holder, now=now, length=lease)
        if taken is None:
            return current, False
        self._take_slot(current, taken, now)
        for ticket in tuple(self._tickets(execution).values()):
            if ticket.state is not TicketState.SETTLED:
                self._tickets(execution)[ticket.seq] = replace(ticket, epoch=taken.epoch)
        return self._keep(taken), True

    async def open(
        self,
        execution: Execution,
        opening: ExecutionSetup,
        *,
        entry: LedgerEntry,
        receipts: tuple[Receipt, ...] = (),
        now: datetime,
    ) -> None:
        current, _ = self._fenced(execution, now)
        policy = execution.policy
        if policy is None:
            raise StaleError("the execution has no policy")
        reserve, month = opening.max_credits, policy.plan.credits_per_month
        task_month = month if policy.credits_per_month is None else policy.credits_per_month
        balances = (
            self._purse(name_owner_balance(execution.owner), now).reserve(
                reserve, limit=month, whose=f"plan {policy.plan.name}"
            ),
            self._purse(name_task_balance(execution.task), now).reserve(reserve, limit=task_month, whose="the task"),
        )
        self._memory.balances.update((balance.id, balance) for balance in balances)
        self._memory.entries[entry.id] = entry
        self._sign(execution.id, receipts)
        self._keep(current, policy=policy, credits_reserved=reserve, events=execution.events, receipts=execution.receipts)
        self._memory.openings[execution.id] = opening

    async def ask(self, execution: Execution, *, now: datetime, lease: timedelta) -> Execution:
        current, held = self._fenced(execution, now)
        await self._switches(current)
        if current.cancel_requested:
            return replace(execution, cancel_requested=True)
        renewed = replace(held, expires_at=now + lease)
        self._keep(
            current, lease=renewed, pending_model_calls=execution.pending_model_calls, credits_held=execution.credits_held
        )
        return replace(execution, lease=renewed)

    async def commit(self, execution: Execution, turn: TurnCommit, *, now: datetime, lease: timedelta) -> Execution:
        current, held = self._fenced(execution, now)
        steps, tickets = self._memory.steps.setdefault(execution.id, {}), self._tickets(execution.id)
        if turn.step.number in steps or any(ticket.seq in tickets for ticket in turn.tickets):
            raise ValueError("the turn is there already")
        self._sign(execution.id, turn.receipts)
        steps[turn.step.number] = turn.step
        tickets.update((ticket.seq, ticket) for ticket in turn.tickets)
        after = replace(execution, lease=replace(held, expires_at=now + lease))
        if turn.entry is not None:
            self._memory.entries[turn.entry.id] = turn.entry
        self._count(current, after)
        return after

    async def renew(self, execution: Execution, *, now: datetime, lease: timedelta) -> Execution:
        current, held = self._fenced(execution, now)
        await self._switches(current)
        renewed = replace(held, expires_at=now + lease)
        self._keep(current, lease=renewed)
        return replace(execution, lease=renewed, cancel_requested=current.cancel_requested)

    async def settle(
        self, execution: Execution, seq: int, result: ToolCallResult, *, now: datetime, in_doubt: bool = False
    ) -> Ticket:
        self._fenced(execution, now)
        ticket = self._tickets(execution.id)[seq]
        if ticket.result is not None:
            return ticket  # the tool answered after all
        settled = replace(ticket, state=TicketState.SETTLED, settled_at=now, result=result, in_doubt=in_doubt)
        self._tickets(execution.id)[seq] = settled
        return settled

    async def give_up(self, execution: Execution, *, now: datetime) -> None:
        self._keep(rules.release_lease(self._memory.executions[execution.id], execution, now))
        self._free(execution)

    async def hand_over(self, execution: Execution, *, now: datetime) -> int:
        following = self._keep(rules.hand_over_slice(self._memory.executions[execution.id], execution, now)).slice
        self._free(execution)
        return following

    async def finish(self, execution: Execution, ending: ExecutionEnding, *, now: datetime) -> bool:
        current, _ = self._fenced(execution, now)
        if current.cancel_requested and not execution.cancel_requested:
            return False
        self._sign(execution.id, ending.receipts)
        if ending.entry is not None:
            self._memory.entries[ending.entry.id] = ending.entry
            for name in (name_owner_balance(execution.owner), name_task_balance(execution.task)):
                balance = self._purse(name, now)
                settled = balance.settle(reserved=current.credits_reserved, used=execution.credits_used)
                self._memory.balances[name] = settled
        self._free(execution)
        counted = self._count(current, replace(execution, lease=None))
        self._keep(counted, status=ending.status, output=ending.output, error=ending.error, completed_at=now)
        return True

    async def cancel(self, execution: str, *, now: datetime) -> Execution | None:
        current = self._memory.executions.get(execution)
        if current is None or current.status.terminal:
            return current
        if current.status is Status.QUEUED:
            self._free(current)
            ended = {"status": Status.KILLED, "error": "cancelled before it started", "completed_at": now}
            return self._keep(current, cancel_requested=True, **ended)
        return self._keep(current, cancel_requested=True)

    async def opening(self, execution: str) -> ExecutionSetup | None:
        return self._memory.openings.get(execution)

    async def steps(self, execution: str, *, after: int = 0) -> Sequence[Step]:
        steps = self._memory.steps.get(execution, {})
        return [steps[number] for number in sorted(steps) if number > after]

    async def tickets(self, execution: str, *, first: int = 0) -> Sequence[Ticket]:
        tickets = self._memory.tickets.get(execution, {})
        return [tickets[seq] for seq in sorted(tickets) if seq >= first]

    async def receipts(self, execution: str) -> Sequence[Receipt]:
        kept = self._memory.receipts.get(execution, {})
        return [each for first in sorted(kept) for each in kept[first]]

    def _sign(self, execution: str, receipts: tuple[Receipt, ...]) -> None:
        kept = self._memory.receipts.setdefault(execution, {})
        if receipts and receipts[0].number in kept:
            raise ValueError("the receipts are there already")
        if receipts:
            kept[receipts[0].number] = receipts

    def _occupied(self, owner: str) -> Occupancy:
        return self._memory.occupancy.get(owner, Occupancy())

    def _take_slot(self, current: Execution, taken: Execution, now: datetime) -> None:
        occupied, owner = self._occupied(current.owner), self._memory.owners.get(current.owner)
        plan = self._plans.get(owner.plan) if owner else None
        if plan is not None and not occupied.has_slot(current, most=plan.executions_running):
            doubtful = occupied.find_doubtful(besides=current.id, now=now)
            seen = [self._memory.executions[each] for each in doubtful if each in self._memory.executions]
            occupied = occupied.confirm(doubtful, seen, now=now)
            if not occupied.has_slot(current, most=plan.executions_running):
                raise NoFreeSlotError(current, queued=len(occupied.queued))
        self._memory.occupancy[current.owner] = occupied.run(taken)

    def _free(self, execution: Execution) -> None:
        self._memory.occupancy[execution.owner] = self._occupied(execution.owner).leave(execution.id)

    def _tickets(self, execution: str) -> dict[int, Ticket]:
        return self._memory.tickets.setdefault(execution, {})

    def _keep(self, execution: Execution, **changes: object) -> Execution:
        kept: Execution = replace(execution, **changes)  # type: ignore[arg-type] # each caller names fields of an execution
        self._memory.executions[execution.id] = kept
        return kept

    def _count(self, current: Execution, after: Execution) -> Execution:
        # what a turn brings up to date; the cancel flag is never among it
        return self._keep(
            current,
            iterations=after.iterations,
            credits_used=after.credits_used,
            credits_held=after.credits_held,
            pending_model_calls=after.pending_model_calls,
            usage=after.usage,
            tool_calls=after.tool_calls,
            tool_calls_total=after.tool_calls_total,
            rate=after.rate,
            events=after.events,
            receipts=after.receipts,
            lease=after.lease,
        )

    def _fenced(self, held: Execution, now: datetime) -> tuple[Execution, Lease]:
        current = self._memory.executions[held.id]
        return current, rules.check_fence(current, held, now)

    def _purse(self, name: str, now: datetime) -> CreditBalance:
        return self._memory.balances.get(name, CreditBalance(id=name)).at(now)

    async def _switches(self, execution: Execution) -> None:
        reason = await MemoryHalts(self._memory).standing(execution.owner, created=execution.created_at)
        if reason is not None:
            raise HaltedError(reason)
        task = self._memory.tasks.get(execution.task)
        if task is None or not task.enabled:
            raise TaskDisabledError(DISABLED)
