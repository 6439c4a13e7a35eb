"""Executions in memory: every write of a holder is fenced by its lease's epoch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal

from ferryman.domain.call import Ticket, TicketState, ToolCallResult
from ferryman.domain.execution import Execution, Lease, Opening, Status, Step
from ferryman.domain.owner import Owner, month_of
from ferryman.local.memory import Memory
from ferryman.ports import Ending, Insufficient, Stale, Turn


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

    async def claim(self, execution: str, *, holder: str, now: datetime, lease: timedelta) -> tuple[Execution, bool]:
        current = self._memory.executions[execution]
        held = current.lease is not None and current.lease.expires_at > now
        if current.status.terminal or (current.status is Status.RUNNING and held):
            return current, False
        epoch = (current.lease.epoch if current.lease else 0) + 1
        for ticket in tuple(self._tickets(execution).values()):
            if ticket.state is not TicketState.SETTLED:
                self._tickets(execution)[ticket.seq] = replace(ticket, epoch=epoch)
        return self._keep(
            current,
            status=Status.RUNNING,
            started_at=current.started_at or now,
            lease=Lease(holder=holder, epoch=epoch, expires_at=now + lease),
        ), True

    async def open(self, execution: Execution, opening: Opening, *, reserve: Decimal, now: datetime) -> None:
        current, _ = self._fenced(execution, now)
        owner, remit = self._owner(execution, now), execution.remit
        if owner is None or remit is None:
            raise Stale("the owner is gone")
        if owner.credits_used + owner.credits_reserved + reserve > remit.plan.credits_per_month:
            raise Insufficient(f"{reserve} credits are not left this month on plan {remit.plan.name}")
        self._memory.owners[owner.id] = replace(owner, credits_reserved=owner.credits_reserved + reserve)
        self._keep(current, remit=remit, credits_reserved=reserve, events=execution.events)
        self._memory.openings[execution.id] = opening

    async def commit(self, execution: Execution, turn: Turn, *, now: datetime, lease: timedelta) -> Execution:
        current, held = self._fenced(execution, now)
        steps, tickets = self._memory.steps.setdefault(execution.id, {}), self._tickets(execution.id)
        if turn.step.number in steps or any(ticket.seq in tickets for ticket in turn.tickets):
            raise ValueError("the turn is there already")
        steps[turn.step.number] = turn.step
        tickets.update((ticket.seq, ticket) for ticket in turn.tickets)
        after = replace(execution, lease=replace(held, expires_at=now + lease))
        self._count(current, after)
        return after

    async def renew(self, execution: Execution, *, now: datetime, lease: timedelta) -> Execution:
        current, held = self._fenced(execution, now)
        renewed = replace(held, expires_at=now + lease)
        self._keep(current, lease=renewed)
        return replace(execution, lease=renewed, cancel_requested=current.cancel_requested)

    async def settle(self, execution: Execution, seq: int, result: ToolCallResult, *, now: datetime) -> ToolCallResult:
        self._fenced(execution, now)
        ticket = self._tickets(execution.id)[seq]
        if ticket.result is not None:
            return ticket.result  # the tool answered after all
        settled = replace(ticket, state=TicketState.SETTLED, settled_at=now, result=result)
        self._tickets(execution.id)[seq] = settled
        return result

    async def finish(self, execution: Execution, ending: Ending, *, now: datetime) -> None:
        current, _ = self._fenced(execution, now)
        owner = self._owner(execution, now)
        if owner is not None:
            self._memory.owners[owner.id] = replace(
                owner,
                credits_reserved=max(Decimal(0), owner.credits_reserved - current.credits_reserved),
                credits_used=owner.credits_used + execution.credits_used,
            )
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
            usage=after.usage,
            tool_calls=after.tool_calls,
            tool_calls_total=after.tool_calls_total,
            rate=after.rate,
            events=after.events,
            lease=after.lease,
        )

    def _fenced(self, held: Execution, now: datetime) -> tuple[Execution, Lease]:
        current = self._memory.executions[held.id]
        lease = current.lease
        if lease is None or held.lease is None or lease.epoch != held.lease.epoch or current.status.terminal:
            raise Stale("the lease has moved on")
        if lease.expires_at <= now:
            raise Stale("the lease has run out")
        return current, lease

    def _owner(self, execution: Execution, now: datetime) -> Owner | None:
        owner = self._memory.owners.get(execution.owner)
        if owner is None or owner.month == month_of(now):
            return owner
        # what runs across the turn of a month stays reserved until it ends
        return replace(owner, month=month_of(now), credits_used=Decimal(0))
