"""The record: the full account of one execution, as one value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ferryman.domain.calls.call import Ticket
from ferryman.domain.credits.ledger import LedgerEntry
from ferryman.domain.executions.execution import Execution, ExecutionSetup, Step
from ferryman.domain.executions.message import Message, build_tool_result
from ferryman.domain.records.event import Event, derive_events


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Everything that is kept of an execution; all of it in the form that was scanned. No opening: it ended before one."""

    execution: Execution
    opening: ExecutionSetup | None = field(repr=False)
    steps: Sequence[Step] = field(repr=False)
    tickets: Sequence[Ticket] = field(repr=False)
    entries: Sequence[LedgerEntry] = field(repr=False)

    @property
    def events(self) -> tuple[Event, ...]:
        """What a watcher was told."""
        return tuple(derive_events(self.execution, self.steps, {ticket.seq: ticket for ticket in self.tickets}))

    def messages(self, step: Step) -> list[Message]:
        """The messages that the model read before it took `step`, put together from the record alone."""
        assert self.opening is not None, "a step is taken after an opening"
        found: list[Message] = [{"role": "user", "content": self.opening.prompt}]
        by_seq = {ticket.seq: ticket for ticket in self.tickets}
        for each in self.steps:
            if each.number >= step.number:
                break
            found.append({"role": "assistant", "content": list(each.content)})
            asked = [by_seq[seq] for seq in range(each.first_call, each.first_call + each.calls) if seq in by_seq]
            answers = [(ticket.call, ticket.result) for ticket in asked if ticket.result is not None]
            blocks = [build_tool_result(call, result.content, is_error=result.failed) for call, result in answers]
            found.append({"role": "user", "content": blocks})
        return found
