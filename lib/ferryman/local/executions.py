"""Executions in memory: every write of a holder is fenced by its lease's epoch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from ferryman.domain import lease as rules
from ferryman.domain.call import Ticket, TicketState, ToolCallResult
from ferryman.domain.execution import Execution, Lease, Opening, Status, Step
from ferryman.domain.halt import DISABLED
from ferryman.domain.ledger import Entry
from ferryman.domain.purse import Purse, of_owner, of_task
from ferryman.domain.receipt import Receipt
from ferryman.local.halts import MemoryHalts
from ferryman.local.memory import Memory
from ferryman.ports import Disabled, Ending, Halted, Stale, Turn


class MemoryExecutions:
    """`ports.Executions`."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def create(self, execution: Execution) -> None:
        if execution.id in self._memory.executions:
            raise ValueError("the execution is there already")
        self._memory.executions[execution.id] = execution

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
        taken = rules.taken(current, slice=slice, holder=holder, now=now, length=lease)
        if taken is None:
            return current, False
        for ticket in tuple(self._tickets(execution).values()):
            if ticket.state is not TicketState.SETTLED:
                self._tickets(execution)[ticket.seq] = replace(ticket, epoch=taken.epoch)
        return self._keep(taken), True

    async def open(
        self, execution: Execution, opening: Opening, *, entry: Entry, receipts: tuple[Receipt, ...] = (), now: datetime
    ) -> None:
        current, _ = self._fenced(execution, now)
        remit = execution.remit
        if remit is None:
            raise Stale("the execution has no remit")
        reserve, month = opening.max_credits, remit.plan.credits_per_month
        task_month = month if remit.credits_per_month is None else remit.credits_per_month
        purses = (
            self._purse(of_owner(execution.owner), now).reserve(reserve, limit=month, whose=f"plan {remit.plan.name}"),
            self._purse(of_task(execution.task), now).reserve(reserve, limit=task_month, whose="the task"),
        )
        self._memory.purses.update((purse.id, purse) for purse in purses)
        self._memory.entries[entry.id] = entry
        self._sign(execution.id, receipts)
        self._keep(current, remit=remit, credits_reserved=reserve, events=execution.events, receipts=execution.receipts)
        self._memory.openings[execution.id] = opening

    async def ask(self, execution: Execution, *, now: datetime, lease: timedelta) -> Execution:
        current, held = self._fenced(execution, now)
        await self._switches(current)
        if current.cancel_requested:
            return replace(execution, cancel_requested=True)
        renewed = replace(held, expires_at=now + lease)
        self._keep(current, lease=renewed, asked=execution.asked, credits_held=execution.credits_held)
        return replace(execution, lease=renewed)

    async def commit(self, execution: Execution, turn: Turn, *, now: datetime, lease: timedelta) -> Execution:
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
    ) -> ToolCallResult:
        self._fenced(execution, now)
        ticket = self._tickets(execution.id)[seq]
        if ticket.result is not None:
            return ticket.result  # the tool answered after all
        settled = replace(ticket, state=TicketState.SETTLED, settled_at=now, result=result, in_doubt=in_doubt)
        self._tickets(execution.id)[seq] = settled
        return result

    async def give_up(self, execution: Execution, *, now: datetime) -> None:
        self._keep(rules.given_up(self._memory.executions[execution.id], execution, now))

    async def hand_over(self, execution: Execution, *, now: datetime) -> int:
        return self._keep(rules.handed_over(self._memory.executions[execution.id], execution, now)).slice

    async def finish(self, execution: Execution, ending: Ending, *, now: datetime) -> None:
        current, _ = self._fenced(execution, now)
        self._sign(execution.id, ending.receipts)
        if ending.entry is not None:
            self._memory.entries[ending.entry.id] = ending.entry
            for name in (of_owner(execution.owner), of_task(execution.task)):
                purse = self._purse(name, now)
                settled = purse.settle(reserved=current.credits_reserved, used=execution.credits_used)
                self._memory.purses[name] = settled
        counted = self._count(current, replace(execution, lease=None))
        self._keep(counted, status=ending.status, output=ending.output, error=ending.error, completed_at=now)

    async def cancel(self, execution: str, *, now: datetime) -> Execution | None:
        current = self._memory.executions.get(execution)
        if current is None or current.status.terminal:
            return current
        if current.status is Status.QUEUED:
            ended = {"status": Status.KILLED, "error": "cancelled before it started", "completed_at": now}
            return self._keep(current, cancel_requested=True, **ended)
        return self._keep(current, cancel_requested=True)

    async def opening(self, execution: str) -> Opening | None:
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
            asked=after.asked,
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
        return current, rules.fence(current, held, now)

    def _purse(self, name: str, now: datetime) -> Purse:
        return self._memory.purses.get(name, Purse(id=name)).at(now)

    async def _switches(self, execution: Execution) -> None:
        reason = await MemoryHalts(self._memory).standing(execution.owner, created=execution.created_at)
        if reason is not None:
            raise Halted(reason)
        task = self._memory.tasks.get(execution.task)
        if task is None or not task.enabled:
            raise Disabled(DISABLED)
