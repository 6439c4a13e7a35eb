"""The stores and the tools of a replay: they hold what the loop makes, and answer with the recorded results and times."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from ferryman.catalog.tools import PASSING, find_tool
from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import Ticket, ToolCallResult
from ferryman.domain.calls.route import CallRoute
from ferryman.domain.calls.sub_calls import SubCalls
from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.postponement import Postponement
from ferryman.domain.tools.tool import Tool
from ferryman.inmemory.executions import MemoryExecutions
from ferryman.inmemory.tickets import MemoryTickets
from ferryman.ports.errors import UnavailableError
from ferryman.ports.tickets import CallRequest
from ferryman.replay.state import RecordedAttempt, ReplayState
from ferryman.tools.passing.pass_call import ask_for_call
from ferryman.tools.registry import ToolRegistry
from ferryman.tools.waiting.wait_until import WaitCalls


class RecordedExecutions(MemoryExecutions):
    """`ports.Executions`: what the loop settles is settled when it was, and what ended the execution comes to pass."""

    def __init__(self, state: ReplayState) -> None:
        super().__init__(state.memory)
        self._state = state

    async def check(self, execution: Execution, *, now: datetime) -> Execution:
        self._state.prepare_request()
        return await super().check(execution, now=now)

    async def ask(self, execution: Execution, *, now: datetime, lease: timedelta) -> Execution:
        self._state.prepare_request()
        return await super().ask(execution, now=now, lease=lease)

    async def renew(self, execution: Execution, *, now: datetime, lease: timedelta) -> Execution:
        self._state.prepare_stop()
        return await super().renew(execution, now=now, lease=lease)

    async def settle(
        self, execution: Execution, seq: int, result: ToolCallResult, *, now: datetime, in_doubt: bool = False
    ) -> Ticket:
        now = self._state.settle(seq)
        return await super().settle(execution, seq, result, now=now, in_doubt=in_doubt)


class RecordedTools:
    """`ports.Registry`: the registry itself, with its refusals and the loop's limits, over tools that answer what they did."""

    def __init__(self, state: ReplayState, execution_timeout: timedelta) -> None:
        self._state = state
        self._tickets = MemoryTickets(state.memory)
        self._attempt = RecordedAttempt.REFUSED
        waits = WaitCalls(clock=state, execution_timeout=execution_timeout)
        self._registry = ToolRegistry(self._execute, {"waiting": waits.execute, PASSING: ask_for_call})

    def has_tool(self, name: str) -> bool:
        """Tell whether a built-in tool is registered."""
        return self._registry.has_tool(name)

    def get_definitions(self, enabled: Collection[str], *, services: Collection[str] = ()) -> list[dict[str, Any]]:
        return self._registry.get_definitions(enabled, services=services)

    def find_route(self, name: str, arguments: Mapping[str, Any], enabled: Collection[str]) -> CallRoute | None:
        return self._registry.find_route(name, arguments, enabled)

    async def execute(
        self, ticket: Ticket, *, execution: Execution, admit: Callable[[Tool], None]
    ) -> Ticket | Postponement | SubCalls:
        if (sub_calls := self._state.take_sub_calls(ticket.seq)) is not None:
            is_made = find_tool(ticket.tool).kind == PASSING and len(sub_calls.calls) == 1
            return await ask_for_call(ticket, execution=execution) if is_made else sub_calls
        if (edited := self._state.find_edited(ticket.seq)) is not None:
            return replace(ticket, result=edited)
        self._attempt = self._state.take_attempt(ticket.seq)
        if self._attempt is RecordedAttempt.STOPPED:
            self._state.stop()
        return await self._registry.execute(ticket, execution=execution, admit=admit)

    async def _execute(self, ticket: Ticket, *, execution: Execution) -> Ticket:
        seq = ticket.seq
        call_request = CallRequest(
            execution=execution.id, seq=seq, epoch=execution.epoch, task=execution.task, owner=execution.owner
        )
        if self._attempt is RecordedAttempt.REFUSED:
            message = "Error: the record has no answer to this call: the loop refused it then"
            refused = ToolCallResult.from_refusal(ticket.tool, replace(refusal.INTERNAL_ERROR, message=message))
            return replace(ticket, result=refused)
        claimed_call = await self._tickets.claim(call_request, tool=find_tool(ticket.tool).function, now=self._state.now())
        if self._attempt is RecordedAttempt.RELEASED:
            await self._tickets.release(claimed_call)
        if self._attempt is not RecordedAttempt.ANSWERED:
            raise UnavailableError("the answer was lost")
        recorded = self._state.answer(seq)
        assert recorded.result is not None, "the execution has ended"
        assert recorded.settled_at is not None, "the execution has ended"
        approved = replace(claimed_call, ticket=self._state.note_approval(claimed_call.ticket))  # what it declassified counts
        await self._tickets.settle(approved, recorded.result, now=recorded.settled_at, in_doubt=recorded.in_doubt)
        return self._state.memory.tickets[execution.id][seq]
