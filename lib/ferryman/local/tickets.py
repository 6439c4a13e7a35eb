"""Tickets in memory, as a tool function claims and settles them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from ferryman.domain.call import TicketState, ToolCallResult
from ferryman.domain.execution import Execution, Status
from ferryman.domain.http import REQUEST_SECONDS
from ferryman.local.memory import Memory
from ferryman.ports import Errand, Stale

DEADLINE = timedelta(seconds=REQUEST_SECONDS + 5)
"""How long after its claim a call can still be under way."""


class MemoryTickets:
    """`ports.Tickets`."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def claim(self, execution: str, seq: int, *, epoch: int, tool: str, now: datetime) -> Errand:
        current = self._held(execution, epoch, now)
        ticket = self._memory.tickets.get(execution, {}).get(seq)
        if ticket is None:
            raise Stale("there is no such call")
        task = self._memory.tasks.get(current.task)
        if current.remit is None:
            raise Stale("the execution has not been opened")
        if task is None or not task.enabled:
            raise Stale("the task was disabled or deleted")
        if ticket.tool != tool:
            raise Stale("the call is another tool's")
        if ticket.state is not TicketState.SETTLED:
            if ticket.state is TicketState.SENT or ticket.epoch != epoch:
                raise Stale("the call is already on its way")
            if current.cancel_requested:
                raise Stale("the execution was cancelled")
            ticket = replace(ticket, state=TicketState.SENT, attempt=ticket.attempt + 1, sent_at=now, deadline=now + DEADLINE)
            self._memory.tickets[execution][seq] = ticket
        return Errand(ticket=ticket, remit=current.remit, versions=self._versions(current.task))

    async def settle(self, execution: str, seq: int, *, attempt: int, result: ToolCallResult, now: datetime) -> None:
        ticket = self._memory.tickets[execution][seq]
        if ticket.attempt != attempt or ticket.state is not TicketState.SENT:
            return  # a later attempt has taken over: what this one learned changes nothing
        settled = replace(ticket, state=TicketState.SETTLED, settled_at=now, result=result)
        self._memory.tickets[execution][seq] = settled

    async def release(self, execution: str, seq: int, *, attempt: int) -> None:
        ticket = self._memory.tickets[execution][seq]
        if ticket.attempt == attempt and ticket.state is TicketState.SENT:
            released = replace(ticket, state=TicketState.INTENDED, sent_at=None, deadline=None)
            self._memory.tickets[execution][seq] = released

    async def scope(self, execution: str, *, epoch: int, now: datetime) -> tuple[str, Mapping[str, int]]:
        current = self._held(execution, epoch, now)
        return current.task, self._versions(current.task)

    def _versions(self, task: str) -> Mapping[str, int]:
        return dict(self._memory.versions.get(task, {}))

    def _held(self, execution: str, epoch: int, now: datetime) -> Execution:
        current = self._memory.executions.get(execution)
        if current is None:
            raise Stale("there is no such execution")
        lease = current.lease
        if current.status is not Status.RUNNING or lease is None or lease.epoch != epoch or lease.expires_at <= now:
            raise Stale("the lease has moved on or run out")
        return current
