"""The record: everything about one execution, as one value."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from ferryman.domain.calls.call import Ticket
from ferryman.domain.calls.labelling import label_ticket
from ferryman.domain.conversations.compaction import list_after_summary, list_first
from ferryman.domain.conversations.reading import fit_ticket
from ferryman.domain.credits.ledger import LedgerEntry
from ferryman.domain.executions.execution import Execution, ExecutionSetup, Step
from ferryman.domain.executions.found_tools import Definition, build_results
from ferryman.domain.executions.message import Message, join_text
from ferryman.domain.labels.label import OWNED, FlowLabel, join
from ferryman.domain.records.event import Event, derive_events


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Everything that is stored of an execution, scanned. `opening` is None where it ended before its setup."""

    execution: Execution
    opening: ExecutionSetup | None = field(repr=False)
    steps: Sequence[Step] = field(repr=False)
    tickets: Sequence[Ticket] = field(repr=False)
    entries: Sequence[LedgerEntry] = field(repr=False)

    @property
    def events(self) -> tuple[Event, ...]:
        """The events that a watcher received."""
        return tuple(derive_events(self.execution, self.steps, {ticket.seq: ticket for ticket in self.tickets}))

    def join_labels(self, step: Step) -> FlowLabel:
        """Return the label of everything that the model had read before `step`: of history, prompt and every result."""
        earlier = (ticket for ticket in self.tickets if ticket.step < step.number and not ticket.hidden)
        before = OWNED if self.opening is None else self.opening.label
        return join((OWNED, before, *(label_ticket(ticket) for ticket in earlier)))

    def build_prompt(
        self, step: Step, *, finders: Collection[str], recallers: Collection[str] = ()
    ) -> tuple[list[Definition], list[Message]]:
        """Return the tools and the messages that the model read before `step`, rebuilt from the record alone.

        `finders` are the names of the tools that search for others, `recallers` of those that read results again.
        """
        assert self.opening is not None, "a step comes after the setup"
        tools = list(self.opening.tools)
        enabled = self.execution.policy.enabled if self.execution.policy else ()
        answer = self.execution.answer if any(tool in enabled for tool in recallers) else 0
        messages = list_first(self.opening)
        turns: dict[int, list[Ticket]] = {}
        for ticket in self.tickets:
            if ticket.parent is None:
                read = fit_ticket(ticket, self.execution.surface, finders=finders, answer=answer)
                turns.setdefault(ticket.step, []).append(read)
        for earlier in self.steps:
            if earlier.number >= step.number:
                break
            if earlier.summarizes:
                messages = list_after_summary(self.opening, join_text(earlier.content))
                continue
            messages.append({"role": "assistant", "content": list(earlier.content)})
            answers = [(ticket.call, ticket.result) for ticket in turns.get(earlier.number, ()) if ticket.result is not None]
            if answers:
                message, added = build_results(answers, finders=finders, listed=tools, enabled=enabled)
                messages.append(message)
                tools += added
        return tools, messages
