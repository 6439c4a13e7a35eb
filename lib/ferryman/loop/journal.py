"""The journal: what the record of an execution says happened, turned back into where the loop stands."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from ferryman.domain.call import AUDIT_ROWS_MAX, Ticket, ToolCallResult, audit_row
from ferryman.domain.execution import Execution, Opening, Step
from ferryman.domain.message import Message, tool_result
from ferryman.domain.rate import ExecutionRateState
from ferryman.domain.repeats import RECENT_CALLS, likeness


@dataclass(slots=True, kw_only=True)
class Run:
    """Where one execution stands while its holder runs it.

    `pending` are the last turn's tickets that have no counted result yet, in call order; `results` those that have.
    `committed` are the credits used as of the last commit, `fees` those charged for calls since, and `settled` those calls;
    `recent` is what the latest calls asked for.
    """

    execution: Execution
    opening: Opening
    committed: Decimal
    fees: Decimal = Decimal(0)
    messages: list[Message] = field(default_factory=list)
    last: Step | None = None
    pending: list[Ticket] = field(default_factory=list)
    results: list[tuple[Ticket, ToolCallResult]] = field(default_factory=list)
    settled: list[tuple[Ticket, ToolCallResult]] = field(default_factory=list)
    next_call: int = 0
    recent: deque[str] = field(default_factory=lambda: deque(maxlen=RECENT_CALLS))

    def kept(self, execution: Execution) -> None:
        """Take in what a turn's commit left the execution at."""
        self.execution, self.committed, self.fees = execution, execution.credits_used, Decimal(0)
        self.settled = []

    def said(self, step: Step, tickets: Sequence[Ticket]) -> None:
        """Take in a turn of the model."""
        self.messages.append({"role": "assistant", "content": list(step.content)})
        self.last, self.pending = step, list(tickets)
        self.next_call = step.first_call + step.calls

    def counted(self, result: ToolCallResult) -> None:
        """Take in the result of the first pending ticket: bill it, and put it in the audit list."""
        self._replayed(result)
        self.settled.append(self.results[-1])
        self.fees += result.fee
        execution = self.execution
        rows = execution.tool_calls
        if len(rows) < AUDIT_ROWS_MAX:
            rows = (*rows, audit_row(result))
        self.execution = replace(
            execution,
            credits_used=execution.credits_used + result.fee,
            tool_calls=rows,
            tool_calls_total=execution.tool_calls_total + 1,
        )

    def answered(self) -> None:
        """Close the turn: its results are what the model reads next."""
        blocks: list[Any] = [
            tool_result(ticket.call, result.content, is_error=result.failed) for ticket, result in self.results
        ]
        self.messages.append({"role": "user", "content": blocks})
        self.results = []

    def replayed(self) -> None:
        """Close a turn of the record, whose results were counted when the next one was committed."""
        while self.pending:
            result = self.pending[0].result
            assert result is not None, "a turn is only followed by another when all its calls were settled"
            self._replayed(result)
        self.answered()

    def _replayed(self, result: ToolCallResult) -> None:
        ticket = self.pending.pop(0)
        self.results.append((ticket, result))
        self.recent.append(likeness(ticket.tool, ticket.shown))


def rebuild(execution: Execution, opening: Opening, steps: Sequence[Step], tickets: Sequence[Ticket]) -> Run:
    """The run as the last commit left it: every turn but the last with its results, the last with its tickets pending.

    The counters on the execution are as of that commit, so the last turn's calls are still to be counted.
    """
    run = Run(execution=replace(execution, rate=rate_of(tickets)), opening=opening, committed=execution.credits_used)
    run.messages.append({"role": "user", "content": opening.prompt})
    by_seq = {ticket.seq: ticket for ticket in tickets}
    for step in steps:
        if run.last is not None:
            run.replayed()
        run.said(step, [by_seq[seq] for seq in range(step.first_call, step.first_call + step.calls)])
    return run


def rate_of(tickets: Sequence[Ticket]) -> ExecutionRateState:
    """The rate state that the calls carried so far have led to."""
    moments: list[datetime] = sorted(ticket.sent_at for ticket in tickets if ticket.sent_at is not None)
    return ExecutionRateState.of(moments)
