"""The course of a recorded execution: what happened, handed out in its order as the loop comes to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from enum import Enum

from ferryman.domain import ledger
from ferryman.domain.call import Ticket, TicketState
from ferryman.domain.event import STARTED
from ferryman.domain.execution import Execution, Opening, Status, Step
from ferryman.domain.halt import BY_OPERATOR, DISABLED
from ferryman.domain.message import Prompt, Reply
from ferryman.domain.record import Record
from ferryman.domain.task import Task
from ferryman.local.memory import Memory
from ferryman.local.tickets import DEADLINE
from ferryman.loop.ending import EXHAUSTED, FAULT
from ferryman.ports import Rejected, Unavailable
from ferryman.wiring.replay import closing


class Passage(Enum):
    """One try of a call: it was claimed and given back, or sent and lost; at last answered, refused by the loop, or stopped."""

    RELEASED = "released"
    LOST = "lost"
    ANSWERED = "answered"
    REFUSED = "refused"
    STOPPED = "stopped"


class Course:
    """Where a replay of `record` stands. It is the replay's clock: `now` is the recorded time of what happened last."""

    def __init__(self, record: Record, opening: Opening) -> None:
        self.memory = _memory(record, opening)
        self.prompts: list[Prompt] = []
        self._record = record
        self._now = record.execution.started_at or opening.started_at
        self._passages = {ticket.seq: _passages(ticket) for ticket in record.tickets}
        self._recorded: Mapping[int, Ticket] = {ticket.seq: ticket for ticket in record.tickets}
        self._beyond = closing.beyond(record)
        self._ending = False

    @property
    def execution(self) -> Execution:
        """The replayed execution as it stands."""
        return self.memory.executions[self._record.execution.id]

    def now(self) -> datetime:
        ended_at = self._record.execution.completed_at
        pending = self._pending()
        if pending is not None:
            if self._times_out and self._passages[pending.seq] == [Passage.STOPPED]:
                return self._settled_at(pending.seq)
        elif ended_at is not None and self._is_over():
            return ended_at
        return self._now

    def wait(self, length: timedelta) -> None:
        """Nothing happens for so long."""
        self._now += length

    def asked(self) -> None:
        """The model is about to be asked: past the last recorded turn, what ended the execution comes to pass."""
        if self._next() is not None:
            return
        self._ending = True
        self._now = self._record.execution.completed_at or self._now
        if not self._beyond:
            self.stop()

    def reply(self, prompt: Prompt) -> Reply:
        """What the model answered here. Raises what stood in the way of an answer."""
        step = self._next()
        if step is None:
            if not self._beyond:
                raise Rejected("the record tells of no further model call")
            answer = self._beyond.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer
        if self.execution.slice < step.slice:
            raise Unavailable("another delivery went on from here", after_s=0)
        self._now = step.at
        self.prompts.append(prompt)
        return Reply(content=step.content, stop_reason=step.stop_reason, usage=step.usage)

    def scanned(self) -> None:
        """A reply is looked through: raises what came of it, where it was never committed."""
        if self._next() is None:
            self._broken()

    def passage(self, seq: int) -> Passage:
        """How the call's next try went; the last holds for ever. A call nobody recorded counts as refused."""
        left = self._passages.setdefault(seq, [Passage.REFUSED])
        passage = left.pop(0) if len(left) > 1 else left[0]
        if passage is Passage.ANSWERED:
            self._now = self._last_claim(seq)
        elif passage in (Passage.REFUSED, Passage.STOPPED):
            self._now = self._settled_at(seq)
        elif self.memory.tickets[self._record.execution.id][seq].state is TicketState.INTENDED:
            self._now = self._recorded[seq].sent_at or self._now
        return passage

    def answer(self, seq: int) -> Ticket:
        """The call as its tool settled it."""
        self._now = self._settled_at(seq)
        return self._recorded[seq]

    def settled(self, seq: int) -> datetime:
        """When the loop itself settled the call."""
        self._now = self._settled_at(seq)
        return self._now

    def stop(self) -> None:
        """Bring about what ended the execution from outside; raises where it was a fault or the provider's refusal."""
        execution, memory = self._record.execution, self.memory
        self._ending = True
        if execution.status is not Status.KILLED and execution.error != DISABLED:
            self._broken()
        if execution.error in closing.HALTS:
            memory.halts.update((None,) if execution.error == BY_OPERATOR else (execution.owner,))
        elif execution.error == DISABLED:
            memory.tasks[execution.task] = replace(memory.tasks[execution.task], enabled=False)
        else:
            memory.executions[execution.id] = replace(self.execution, cancel_requested=True)

    @property
    def _times_out(self) -> bool:
        return self._record.execution.status is Status.TIMEOUT and not self._beyond

    def _broken(self) -> None:
        error = self._record.execution.error or ""
        raise RuntimeError(error) if error == FAULT else Rejected(error)

    def _next(self) -> Step | None:
        taken = len(self.memory.steps.get(self._record.execution.id, ()))
        return self._record.steps[taken] if taken < len(self._record.steps) else None

    def _pending(self) -> Ticket | None:
        tickets = self.memory.tickets.get(self._record.execution.id, {})
        return next((tickets[seq] for seq in sorted(tickets) if tickets[seq].state is not TicketState.SETTLED), None)

    def _is_over(self) -> bool:
        if self._next() is not None:
            return False
        answered = bool(self._record.steps) and not self._record.steps[-1].calls
        exhausted = (self._record.execution.error or "").startswith(EXHAUSTED)
        return self._ending or answered or exhausted or self._times_out

    def _settled_at(self, seq: int) -> datetime:
        ticket = self._recorded.get(seq)
        return self._now if ticket is None or ticket.settled_at is None else ticket.settled_at

    def _last_claim(self, seq: int) -> datetime:
        ticket = self._recorded[seq]
        assert ticket.sent_at is not None, "what was answered was sent"
        return ticket.sent_at if ticket.deadline is None else max(ticket.sent_at, ticket.deadline - DEADLINE)


def _passages(ticket: Ticket) -> list[Passage]:
    """The tries of a call. Tries that were lost stand 35 seconds apart; the others were given back before anything was sent."""
    reason = None if ticket.result is None else ticket.result.block_reason
    earlier = ticket.attempt if ticket.sent_at is None else ticket.attempt - 1
    if ticket.sent_at is None or ticket.deadline is None:
        lost = 0
    else:
        lost = max(0, min(earlier, int((ticket.deadline - DEADLINE - ticket.sent_at) / DEADLINE)))
    unsent = Passage.STOPPED if reason == "cancelled" else Passage.REFUSED
    last = unsent if ticket.sent_at is None else Passage.ANSWERED
    return [*[Passage.RELEASED] * (earlier - lost), *[Passage.LOST] * lost, last]


def _memory(record: Record, opening: Opening) -> Memory:
    """The house as it stood when the execution had been opened and nobody had run it yet."""
    ended, memory = record.execution, Memory()
    task = Task(
        id=ended.task,
        owner=ended.owner,
        name="",
        task_prompt="",
        model=opening.model,
        created_at=ended.created_at,
        updated_at=ended.created_at,
    )
    opened = Execution(
        id=ended.id,
        task=ended.task,
        owner=ended.owner,
        input=ended.input,
        created_at=ended.created_at,
        credits_reserved=opening.max_credits,
        remit=ended.remit,
        events=STARTED,
    )
    reserved = ledger.reserved(opened, opening.max_credits, at=opening.started_at)
    memory.tasks[task.id], memory.executions[opened.id], memory.openings[opened.id] = task, opened, opening
    memory.entries[reserved.id] = reserved
    return memory
