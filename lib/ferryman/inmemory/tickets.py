"""Tickets in memory, as a tool function claims and settles them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from ferryman.domain.calls.call import SETTLING_TIME, TicketState, ToolCallResult, claim_ticket
from ferryman.domain.executions import lease
from ferryman.domain.executions.execution import Execution
from ferryman.domain.http.request import REQUEST_SECONDS
from ferryman.domain.stale import StaleError
from ferryman.inmemory.halts import MemoryHalts
from ferryman.inmemory.memory import Memory
from ferryman.ports.tickets import CallRequest, ClaimedCall

DEADLINE = timedelta(seconds=REQUEST_SECONDS) + SETTLING_TIME
"""How long after its claim a call can still be under way."""


class MemoryTickets:
    """`ports.Tickets`."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def claim(self, call_request: CallRequest, *, tool: str, now: datetime) -> ClaimedCall:
        current = self._held(call_request.execution, call_request.epoch, now)
        ticket = self._memory.tickets.get(call_request.execution, {}).get(call_request.seq)
        task = self._memory.tasks.get(current.task)
        if ticket is None or (call_request.task, call_request.owner) != (current.task, current.owner):
            raise StaleError("there is no such call")
        if current.policy is None:
            raise StaleError("the execution has not been opened")
        if task is None or not task.enabled:
            raise StaleError("the task was disabled or deleted")
        halted = await MemoryHalts(self._memory).standing(current.owner, created=current.created_at)
        stopped = current.cancel_requested or halted is not None
        taken = claim_ticket(ticket, tool=tool, epoch=call_request.epoch, stopped=stopped, now=now, under_way=DEADLINE)
        self._memory.tickets[call_request.execution][call_request.seq] = taken
        again = ticket.state is TicketState.SENT
        return ClaimedCall(
            call_request=call_request,
            ticket=taken,
            policy=current.policy,
            versions=self._versions(current.task),
            created=current.created_at,
            task_name=task.name,
            again=again,
            coverage=current.coverage,
        )

    async def settle(self, claimed_call: ClaimedCall, result: ToolCallResult, *, now: datetime, in_doubt: bool = False) -> None:
        tickets, seq = self._memory.tickets[claimed_call.call_request.execution], claimed_call.call_request.seq
        if tickets[seq].attempt != claimed_call.ticket.attempt or tickets[seq].state is not TicketState.SENT:
            return  # a later attempt has taken over: what this one learned changes nothing
        tickets[seq] = replace(tickets[seq], state=TicketState.SETTLED, settled_at=now, result=result, in_doubt=in_doubt)

    async def release(self, claimed_call: ClaimedCall) -> None:
        tickets, seq = self._memory.tickets[claimed_call.call_request.execution], claimed_call.call_request.seq
        if tickets[seq].attempt == claimed_call.ticket.attempt and tickets[seq].state is TicketState.SENT:
            tickets[seq] = replace(tickets[seq], state=TicketState.INTENDED, sent_at=None, deadline=None)

    async def cover(self, claimed_call: ClaimedCall, before: bytes, after: bytes, *, now: datetime) -> bytes:
        current = self._held(claimed_call.call_request.execution, claimed_call.call_request.epoch, now)
        if current.coverage != before:
            return current.coverage
        self._memory.executions[current.id] = replace(current, coverage=after)
        return after

    async def scope(self, execution: str, *, epoch: int, now: datetime) -> tuple[Execution, Mapping[str, int]]:
        current = self._held(execution, epoch, now)
        return current, self._versions(current.task)

    def _versions(self, task: str) -> Mapping[str, int]:
        return dict(self._memory.versions.get(task, {}))

    def _held(self, execution: str, epoch: int, now: datetime) -> Execution:
        current = self._memory.executions.get(execution)
        if current is None:
            raise StaleError("there is no such execution")
        return lease.check_epoch(current, epoch, now)
