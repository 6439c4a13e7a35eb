"""Tickets in memory, as a tool function claims and settles them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from ferryman.domain import lease
from ferryman.domain.call import SETTLES, TicketState, ToolCallResult, claimed
from ferryman.domain.execution import Execution
from ferryman.domain.http import REQUEST_SECONDS
from ferryman.local.halts import MemoryHalts
from ferryman.local.memory import Memory
from ferryman.ports import Errand, Stale, Summons

DEADLINE = timedelta(seconds=REQUEST_SECONDS) + SETTLES
"""How long after its claim a call can still be under way."""


class MemoryTickets:
    """`ports.Tickets`."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def claim(self, summons: Summons, *, tool: str, now: datetime) -> Errand:
        current = self._held(summons.execution, summons.epoch, now)
        ticket = self._memory.tickets.get(summons.execution, {}).get(summons.seq)
        task = self._memory.tasks.get(current.task)
        if ticket is None or (summons.task, summons.owner) != (current.task, current.owner):
            raise Stale("there is no such call")
        if current.remit is None:
            raise Stale("the execution has not been opened")
        if task is None or not task.enabled:
            raise Stale("the task was disabled or deleted")
        halted = await MemoryHalts(self._memory).standing(current.owner, created=current.created_at)
        stopped = current.cancel_requested or halted is not None
        taken = claimed(ticket, tool=tool, epoch=summons.epoch, stopped=stopped, now=now, under_way=DEADLINE)
        self._memory.tickets[summons.execution][summons.seq] = taken
        again = ticket.state is TicketState.SENT
        return Errand(
            summons=summons,
            ticket=taken,
            remit=current.remit,
            versions=self._versions(current.task),
            created=current.created_at,
            task_name=task.name,
            again=again,
        )

    async def settle(self, errand: Errand, result: ToolCallResult, *, now: datetime, in_doubt: bool = False) -> None:
        tickets, seq = self._memory.tickets[errand.summons.execution], errand.summons.seq
        if tickets[seq].attempt != errand.ticket.attempt or tickets[seq].state is not TicketState.SENT:
            return  # a later attempt has taken over: what this one learned changes nothing
        tickets[seq] = replace(tickets[seq], state=TicketState.SETTLED, settled_at=now, result=result, in_doubt=in_doubt)

    async def release(self, errand: Errand) -> None:
        tickets, seq = self._memory.tickets[errand.summons.execution], errand.summons.seq
        if tickets[seq].attempt == errand.ticket.attempt and tickets[seq].state is TicketState.SENT:
            tickets[seq] = replace(tickets[seq], state=TicketState.INTENDED, sent_at=None, deadline=None)

    async def scope(self, execution: str, *, epoch: int, now: datetime) -> tuple[Execution, Mapping[str, int]]:
        current = self._held(execution, epoch, now)
        return current, self._versions(current.task)

    def _versions(self, task: str) -> Mapping[str, int]:
        return dict(self._memory.versions.get(task, {}))

    def _held(self, execution: str, epoch: int, now: datetime) -> Execution:
        current = self._memory.executions.get(execution)
        if current is None:
            raise Stale("there is no such execution")
        return lease.under(current, epoch, now)
