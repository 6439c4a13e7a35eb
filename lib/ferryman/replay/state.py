"""The state of a replay: what happened in a recorded execution, in its order, as the loop asks for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from enum import Enum

from ferryman.domain.calls.call import Ticket, TicketState, ToolCall, ToolCallResult
from ferryman.domain.calls.refusal import EDITED, IN_DOUBT, TOO_MANY_SUB_CALLS
from ferryman.domain.calls.sub_calls import SubCalls, order_calls
from ferryman.domain.conversations.window import WindowPart
from ferryman.domain.credits import ledger
from ferryman.domain.executions.execution import STOPPED, Execution, ExecutionSetup, Status, Step
from ferryman.domain.executions.halt import BY_OPERATOR, DISABLED
from ferryman.domain.executions.message import Block, Prompt, Reply
from ferryman.domain.records.event import STARTED
from ferryman.domain.records.record import Record
from ferryman.domain.tasks.task import Task
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.tickets import DEADLINE
from ferryman.loop.endings import FAULT
from ferryman.loop.money import EXHAUSTED
from ferryman.loop.sub_calls import CALLS_MAX
from ferryman.ports.errors import RejectedError, UnavailableError
from ferryman.ports.model import ReplyWatcher
from ferryman.replay import closing


class RecordedAttempt(Enum):
    """One try of a call: it was claimed and given back, or sent and lost; at last answered, refused by the loop, or stopped."""

    RELEASED = "released"
    LOST = "lost"
    ANSWERED = "answered"
    REFUSED = "refused"
    STOPPED = "stopped"


class ReplayState:
    """The state of a replay of `record`. It is the clock, whose `now` is the recorded time of what happened last, the
    model, which replies what it did, and the scanner, which changes nothing: what is in a record was scanned before."""

    def __init__(self, record: Record, opening: ExecutionSetup) -> None:
        self.memory = _memory(record, opening)
        self.prompts: list[Prompt] = []
        self._record = record
        self._now = record.execution.started_at or opening.started_at
        is_direct = bool(record.execution.called_tool) and record.execution.status is not Status.COMPLETED
        self._attempts = {ticket.seq: _attempts(ticket, is_last=is_direct) for ticket in record.tickets}
        self._recorded: Mapping[int, Ticket] = {ticket.seq: ticket for ticket in record.tickets}
        self._children: dict[int, list[Ticket]] = {}
        for ticket in record.tickets:
            if ticket.parent is not None:
                self._children.setdefault(ticket.parent, []).append(ticket)
        self._beyond = closing.derive_uncommitted(record)
        self._ending = False

    @property
    def execution(self) -> Execution:
        """The replayed execution in its present state."""
        return self.memory.executions[self._record.execution.id]

    def now(self) -> datetime:
        ended_at = self._record.execution.completed_at
        pending = self._pending()
        if pending is not None:
            if self._find_sub_calls(pending.seq):
                return self._now  # it went on until these had settled
            if self._times_out and self._attempts[pending.seq] == [RecordedAttempt.STOPPED]:
                return self._settled_at(pending.seq)
        elif ended_at is not None and self._is_over():
            return ended_at
        return self._now

    def wait(self, length: timedelta) -> None:
        """Let this time pass without an event."""
        self._now += length

    def prepare_request(self) -> None:
        """Prepare the next model request: past the last recorded turn, apply what ended the execution."""
        is_direct, step = bool(self._record.execution.called_tool), self._next()
        if step is not None:
            if is_direct:  # nobody is asked: what follows is written now
                self._begin_step(step)
            return
        self._ending = True
        self._now = self._record.execution.completed_at or self._now
        if is_direct or not self._beyond:
            self.stop()

    def prepare_stop(self) -> None:
        """Apply what stopped the execution from outside, where all that it did was done: nothing else is left to do that."""
        ended = self._record.execution
        if (ended.status is Status.KILLED or ended.error == DISABLED) and self._pending() is None:
            self.prepare_request()

    async def reply(self, prompt: Prompt, *, watcher: ReplyWatcher | None = None) -> Reply:  # noqa: ARG002 - nobody watches a replay
        """Return what the model answered here. Raise the error that prevented an answer."""
        step = self._next()
        if step is None:
            if not self._beyond:
                raise RejectedError("the record tells of no further model call")
            answer = self._beyond.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer
        self._begin_step(step)
        self.prompts.append(prompt)
        if step.stop_reason == STOPPED:
            self.stop()
        return Reply(content=step.content, stop_reason=step.stop_reason, usage=step.usage)

    async def scan(self, execution: Execution, content: Sequence[Block]) -> Sequence[Block]:  # noqa: ARG002 - the port's
        """Return `content`, or what the scan left of a call that no model asked for. Raise the error that its scan ended with,
        where the reply was never committed."""
        step = self._next()
        if step is None:
            self._raise_end()
        elif self._record.execution.called_tool:
            return step.content
        return content

    async def scan_window(self, execution: Execution, texts: Sequence[str]) -> Sequence[WindowPart]:  # noqa: ARG002 - the port's
        """Return that nothing is decided: nobody watches a replay."""
        return [WindowPart("", 0)] * len(texts)

    def take_attempt(self, seq: int) -> RecordedAttempt:
        """Return how the call's next try went; the last holds for ever. A call nobody recorded counts as refused."""
        attempts = self._attempts.setdefault(seq, [RecordedAttempt.REFUSED])
        prepared_call = attempts.pop(0) if len(attempts) > 1 else attempts[0]
        if prepared_call is RecordedAttempt.ANSWERED:
            self._now = self._last_claim(seq)
        elif prepared_call in (RecordedAttempt.REFUSED, RecordedAttempt.STOPPED):
            self._now = self._settled_at(seq)
        elif self.memory.tickets[self._record.execution.id][seq].state is TicketState.INTENDED:
            self._now = self._recorded[seq].sent_at or self._now
        return prepared_call

    def take_sub_calls(self, seq: int) -> SubCalls | None:
        """Return the calls that the call asked for at this point; None where it asked for no further ones."""
        tickets, result = self._find_sub_calls(seq), self._recorded[seq].result if seq in self._recorded else None
        if tickets:
            self._now = tickets[0].created_at
            return SubCalls(tuple(_rebuild_call(ticket) for ticket in tickets))
        if result is not None and result.block_reason == TOO_MANY_SUB_CALLS.reason:
            self._now = self._settled_at(seq)
            return SubCalls((ToolCall(id="", name="", arguments={}),) * (CALLS_MAX + 1))
        return None

    def answer(self, seq: int) -> Ticket:
        """Return the call as its tool function settled it."""
        self._now = self._settled_at(seq)
        return self._recorded[seq]

    def find_edited(self, seq: int) -> ToolCallResult | None:
        """Return the result of a call whose arguments a person changed; None for any other."""
        result = self._recorded[seq].result if seq in self._recorded else None
        if result is None or result.block_reason != EDITED:
            return None
        self._now = self._settled_at(seq)
        return result

    def note_approval(self, ticket: Ticket) -> Ticket:
        """Return a replayed ticket with what a person was asked about it, and who approved it: nobody is asked here."""
        recorded = self._recorded.get(ticket.seq)
        if recorded is None:
            return ticket
        if recorded.result is not None and recorded.result.block_reason == EDITED:
            ticket = replace(ticket, attempt=recorded.attempt)  # it was claimed to be asked about, which is not replayed
        return replace(ticket, approval=recorded.approval, form_digest=recorded.form_digest, approved=recorded.approved)

    def verify(self, message: bytes, *, key: int, signature: str) -> bool:  # noqa: ARG002 - the port's
        """Return False: what a person decided is in the record as what came of it."""
        return False

    def settle(self, seq: int) -> datetime:
        """Return when the loop itself settled the call."""
        self._now = self._settled_at(seq)
        return self._now

    def stop(self) -> None:
        """Apply what ended the execution from outside; raises where it was a fault or the provider's refusal."""
        execution, memory = self._record.execution, self.memory
        self._ending = True
        if execution.status is not Status.KILLED and execution.error != DISABLED:
            self._raise_end()
        if execution.error in closing.HALTS:
            memory.halts.update((None,) if execution.error == BY_OPERATOR else (execution.owner,))
        elif execution.error == DISABLED:
            memory.tasks[execution.task] = replace(memory.tasks[execution.task], enabled=False)
        else:
            by = execution.cancelled_by
            memory.executions[execution.id] = replace(self.execution, cancel_requested=True, cancelled_by=by)

    @property
    def _times_out(self) -> bool:
        return self._record.execution.status is Status.TIMEOUT and not self._beyond

    def _raise_end(self) -> None:
        error = self._record.execution.error or ""
        raise RuntimeError(error) if error == FAULT else RejectedError(error)

    def _begin_step(self, step: Step) -> None:
        """Go to the time of a turn. Raise `UnavailableError` where another delivery committed it."""
        if self.execution.slice < step.slice:
            raise UnavailableError("another delivery went on from here", after_s=0)
        self._now = step.at

    def _next(self) -> Step | None:
        count = len(self.memory.steps.get(self._record.execution.id, ()))
        return self._record.steps[count] if count < len(self._record.steps) else None

    def _pending(self) -> Ticket | None:
        tickets = self.memory.tickets.get(self._record.execution.id, {})
        unsettled = [ticket for ticket in tickets.values() if ticket.state is not TicketState.SETTLED]
        return next(iter(order_calls(unsettled)), None)

    def _find_sub_calls(self, seq: int) -> list[Ticket]:
        """Return the recorded calls that were journaled together, and next, of those that this call asked for."""
        known = self.memory.tickets.get(self._record.execution.id, {})
        rest = [ticket for ticket in self._children.get(seq, ()) if ticket.seq not in known]
        return [
            ticket
            for offset, ticket in enumerate(rest)
            if (ticket.seq, ticket.created_at) == (rest[0].seq + offset, rest[0].created_at)
        ]

    def _is_over(self) -> bool:
        if self._next() is not None:
            return False
        last = self._record.steps[-1] if self._record.steps else None
        is_direct = bool(self._record.execution.called_tool)
        answered = last is not None and (is_direct or not last.calls) and not last.summarizes
        exhausted = (self._record.execution.error or "").startswith(EXHAUSTED)
        return self._ending or answered or exhausted or self._times_out

    def _settled_at(self, seq: int) -> datetime:
        ticket = self._recorded.get(seq)
        return self._now if ticket is None or ticket.settled_at is None else ticket.settled_at

    def _last_claim(self, seq: int) -> datetime:
        ticket = self._recorded[seq]
        assert ticket.sent_at is not None, "what was answered was sent"
        if ticket.deadline is None or ticket.attempt <= 1:
            return ticket.sent_at  # whatever time its kind of tool may take
        return max(ticket.sent_at, ticket.deadline - DEADLINE)


def _rebuild_call(ticket: Ticket) -> ToolCall:
    """Return a sub-call as its ticket has it: it is routed already."""
    return ToolCall(id=ticket.call, name=ticket.tool, arguments=ticket.display_arguments, called_as=ticket.called_as)


def _attempts(ticket: Ticket, *, is_last: bool = False) -> list[RecordedAttempt]:
    """Return the tries of a call. Tries that were lost are 35 seconds apart; the others were given back before anything was
    sent. After a direct call, which `is_last`, nobody is asked: what ended the execution before it settled stops it."""
    reason = None if ticket.result is None else ticket.result.block_reason
    code = None if ticket.result is None else ticket.result.code
    is_withdrawn = is_last and code == IN_DOUBT.reason and ticket.sent_at is not None
    earlier = ticket.attempt if ticket.sent_at is None else ticket.attempt - 1
    if ticket.sent_at is None or ticket.deadline is None:
        lost = 0
    else:
        lost = max(0, min(earlier, int((ticket.deadline - DEADLINE - ticket.sent_at) / DEADLINE)))
    if is_withdrawn:
        return [*[RecordedAttempt.RELEASED] * (earlier - lost), *[RecordedAttempt.LOST] * (lost + 1), RecordedAttempt.STOPPED]
    unsent = RecordedAttempt.STOPPED if reason == "cancelled" else RecordedAttempt.REFUSED
    last = unsent if ticket.sent_at is None else RecordedAttempt.ANSWERED
    return [*[RecordedAttempt.RELEASED] * (earlier - lost), *[RecordedAttempt.LOST] * lost, last]


def _memory(record: Record, opening: ExecutionSetup) -> Memory:
    """Return the stored state when the execution had been opened and nobody had run it yet."""
    ended, memory = record.execution, Memory()
    task = Task(
        id=ended.task,
        owner=ended.owner,
        workspace=ended.workspace,
        agent=ended.agent,
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
        workspace=ended.workspace,
        agent=ended.agent,
        person=ended.person,
        conversation=ended.conversation,
        answer=ended.answer,
        question=ended.question,
        titled_answer=ended.titled_answer,
        called_tool=ended.called_tool,
        input=ended.input,
        labels=ended.labels,
        created_at=ended.created_at,
        credits_reserved=opening.max_credits,
        waited_s=ended.waited_s,
        policy=ended.policy,
        events=STARTED,
    )
    reserved = ledger.record_reservation(opened, opening.max_credits, at=opening.started_at)
    memory.tasks[task.id], memory.executions[opened.id], memory.openings[opened.id] = task, opened, opening
    memory.entries[reserved.id] = reserved
    return memory
