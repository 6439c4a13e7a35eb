"""The ports of a replay: the recorded replies are the model, the recorded results the tools, the recorded times the clock."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from ferryman.domain.call import ToolCall, ToolCallResult
from ferryman.domain.execution import Execution
from ferryman.domain.message import Block, Prompt, Reply
from ferryman.domain.tool import Tool, function_of
from ferryman.local.executions import MemoryExecutions
from ferryman.local.tickets import MemoryTickets
from ferryman.ports import Crossing, Summons, Unavailable
from ferryman.tools.registry import ToolRegistry
from ferryman.wiring.replay.course import Course, Passage


class RecordedModel:
    """`ports.Model`."""

    def __init__(self, course: Course) -> None:
        self._course = course

    async def reply(self, prompt: Prompt) -> Reply:
        return self._course.reply(prompt)


class RecordedScanner:
    """`ports.Scanner`: what stands in a record was looked through before."""

    def __init__(self, course: Course) -> None:
        self._course = course

    async def scan(self, execution: Execution, content: Sequence[Block]) -> Sequence[Block]:  # noqa: ARG002 - the port's signature
        self._course.scanned()
        return content


class RecordedExecutions(MemoryExecutions):
    """`ports.Executions`: what the loop settles is settled when it was, and what ended the execution comes to pass."""

    def __init__(self, course: Course) -> None:
        super().__init__(course.memory)
        self._course = course

    async def ask(self, execution: Execution, *, now: datetime, lease: timedelta) -> Execution:
        self._course.asked()
        return await super().ask(execution, now=now, lease=lease)

    async def settle(
        self, execution: Execution, seq: int, result: ToolCallResult, *, now: datetime, in_doubt: bool = False
    ) -> ToolCallResult:
        now = self._course.settled(seq)
        return await super().settle(execution, seq, result, now=now, in_doubt=in_doubt)


class RecordedTools:
    """`ports.Registry`: the registry itself, with its refusals and the loop's limits, over tools that answer what they did."""

    def __init__(self, course: Course) -> None:
        self._course = course
        self._tickets = MemoryTickets(course.memory)
        self._passage = Passage.REFUSED
        self._registry: ToolRegistry[Crossing] = ToolRegistry(self._carried)

    def get_definitions(self, enabled: Collection[str], *, services: Collection[str] = ()) -> list[dict[str, Any]]:
        return self._registry.get_definitions(enabled, services=services)

    async def execute(
        self, call: ToolCall, context: Crossing, *, enabled: Collection[str], admit: Callable[[Tool], None]
    ) -> ToolCallResult:
        self._passage = self._course.passage(context.ticket.seq)
        if self._passage is Passage.STOPPED:
            self._course.stop()
        return await self._registry.execute(call, context, enabled=enabled, admit=admit)

    async def _carried(self, call: ToolCall, crossing: Crossing) -> ToolCallResult:
        execution, seq = crossing.execution, crossing.ticket.seq
        summons = Summons(execution=execution.id, seq=seq, epoch=execution.epoch, task=execution.task, owner=execution.owner)
        if self._passage is Passage.REFUSED:
            return ToolCallResult(call.name, "Error: the record has no answer to this call: the loop refused it then")
        errand = await self._tickets.claim(summons, tool=function_of(call.name), now=self._course.now())
        if self._passage is Passage.RELEASED:
            await self._tickets.release(errand)
        if self._passage is not Passage.ANSWERED:
            raise Unavailable("the answer was lost")
        recorded = self._course.answer(seq)
        assert recorded.result is not None, "the execution has ended"
        assert recorded.settled_at is not None, "the execution has ended"
        await self._tickets.settle(errand, recorded.result, now=recorded.settled_at, in_doubt=recorded.in_doubt)
        crossing.carried = True
        return replace(recorded.result)
