"""The write-ahead journal: rebuild the state of the loop from the stored steps and tickets of an execution."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from ferryman.catalog.tools import EXTRACTING, FINDERS, PASSING, RECALLERS, find_tool, get_expense, get_fee, list_names
from ferryman.domain.calls.call import AUDIT_ROWS_MAX, Ticket, ToolCallResult, to_audit_row
from ferryman.domain.calls.hidden import read_value
from ferryman.domain.calls.labelling import label_ticket
from ferryman.domain.calls.rate import RECENT_CALLS, ExecutionRateState, digest_call
from ferryman.domain.calls.refusal import CANCELLED, PERSON_REASONS, RATE_LIMITED
from ferryman.domain.calls.sub_calls import order_calls
from ferryman.domain.conversations.compaction import list_after_summary, list_first
from ferryman.domain.conversations.reading import fit_ticket
from ferryman.domain.conversations.turns import Turn, write_turn
from ferryman.domain.copies import replace
from ferryman.domain.executions.execution import Execution, ExecutionSetup, Step
from ferryman.domain.executions.found_tools import build_results
from ferryman.domain.executions.history import MessageHistory
from ferryman.domain.executions.message import Message, join_text
from ferryman.domain.executions.usage import Usage, count_use
from ferryman.domain.expense import CallExpense
from ferryman.domain.flow.values import FlowValue, read_reference
from ferryman.domain.labels.label import OWNED, FlowLabel, drop_sources, join
from ferryman.domain.urls.origin import SeenUrls
from ferryman.loop import urls
from ferryman.loop.flow import FlowState, begin_flow
from ferryman.loop.metering import Metered, PromptSizes


@dataclass(slots=True, kw_only=True)
class Run:
    """The state of one execution while its lease holder runs it.

    `pending` are the last turn's tickets without a counted result, in the order in which they settle: sub-calls before the call
    that asked for them; `results` are those with one, as they settled. `committed` is the credits used as of the last commit,
    `fees` the credits charged for calls since then, and `settled` those calls. `is_rate_limited` tells that every call of the
    last turn was refused for a limit of the plan.
    `is_reserved` tells that the last commit has reserved the next model call, which was not made yet: in the store it counts as
    made (`pending_model_calls`, `credits_held`), in `execution` it does not. `recent` are the digests of the latest calls, by
    which repeats are found; one that was refused for a limit was not made. `calls_made` counts the calls of each tool that were
    made, or may have been, under each of their names.
    `label` is that of everything that the model has read so far; its sources are the calls before. `sizes` are those of the
    prompt's parts, by which its tokens are metered; `usage` is that of all stored turns, and of calls that
    asked a model.
    `seen` are the URLs that it was shown; None where no tool fetches any. `turns` are those with calls, and `summary` what it
    began with, for the message that an answer in a conversation becomes. `has_asked` tells that a person was
    asked about a call. `answered` are all settled calls by number, to whose results references lead.
    """

    execution: Execution
    opening: ExecutionSetup
    committed: Decimal
    history: MessageHistory
    fees: Decimal = Decimal(0)
    last: Step | None = None
    pending: list[Ticket] = field(default_factory=list)
    results: list[Ticket] = field(default_factory=list)
    settled: list[Ticket] = field(default_factory=list)
    is_rate_limited: bool = False
    is_reserved: bool = False
    next_call: int = 0
    calls_made: Counter[str] = field(default_factory=Counter)
    recent: deque[str] = field(default_factory=lambda: deque(maxlen=RECENT_CALLS))
    label: FlowLabel = OWNED
    sizes: PromptSizes = field(default_factory=PromptSizes)
    usage: Usage = field(default_factory=Usage)
    turns: list[Turn] = field(default_factory=list)
    summary: str = ""
    open_approvals: dict[int, str] = field(default_factory=dict)
    """The approvals that this delivery has asked people for, by the number of the call."""
    has_asked: bool = False
    answered: dict[int, Ticket] = field(default_factory=dict, repr=False)
    seen: SeenUrls | None = field(init=False, repr=False)
    flow: FlowState = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Begin with what people wrote."""
        self.seen = urls.begin_seen(self.execution, self.opening)
        self.flow = begin_flow(self.execution, self.opening)
        self.label = self.opening.label

    def apply_commit(self, execution: Execution, *, credits_held: Decimal) -> None:
        """Take over the execution as a turn's commit stored it; `credits_held` are those that the turn's calls may cost."""
        self.is_reserved = execution.pending_model_calls > 0
        self.execution = replace(execution, pending_model_calls=0, credits_held=credits_held)
        self.committed, self.fees = execution.credits_used, Decimal(0)
        self.settled = []

    def add_turn(self, step: Step, tickets: Sequence[Ticket]) -> None:
        """Add a turn of the model, with its tickets pending."""
        if step.summarizes:
            self.summary = join_text(step.content)
            self.history = _begin_history(self.opening, list_after_summary(self.opening, self.summary))
        else:
            self.history.append({"role": "assistant", "content": list(step.content)})
        self.last, self.pending = step, order_calls(tickets)
        self.usage += step.usage
        self._count_fetches(tickets)
        self.next_call = max([self.next_call, *(ticket.seq + 1 for ticket in tickets)])

    def add_sub_calls(self, tickets: Sequence[Ticket]) -> None:
        """Add sub-calls of the first pending call, before it: it is executed again once they have settled."""
        self.pending[:0] = tickets
        self._count_fetches(tickets)
        self.next_call = tickets[-1].seq + 1

    @property
    def summarizes(self) -> int:
        """How many messages of the history the next turn is a summary of; 0 for a turn of the answer."""
        return self.opening.summary.count if self.opening.summary is not None and self.last is None else 0

    @property
    def is_answered(self) -> bool:
        """Whether the model has given its answer: a turn that asks for nothing, and is not to be continued.

        A direct call is answered once it has settled.
        """
        if self.execution.called_tool:
            return self.last is not None and not self.pending
        if self.last is None or self.last.calls or self.last.summarizes:
            return False
        return not self.last.is_paused or self.last.number > self.opening.max_iterations

    def list_expenses(self) -> list[CallExpense]:
        """Return what the calls since the last commit are entered in the ledger with: their credits are `fees`."""
        return [get_expense(ticket.result) for ticket in self.settled if ticket.result is not None]

    def meter(self, execution: Execution) -> Metered:
        """Return what the next commit is metered by."""
        return Metered(
            execution=execution,
            model=self.opening.model,
            usage=self.usage,
            sizes=self.sizes,
            prompt_characters=self.history.measure(),
            settled=tuple(self.settled),
        )

    def count_result(self, ticket: Ticket) -> None:
        """Take the first pending ticket as it settled: charge its fee, and add its result to the audit list."""
        result = self._take_pending(ticket)
        self.settled.append(ticket)
        fee = get_fee(result)
        self.fees += fee
        execution = self.execution
        rows = execution.tool_calls
        if len(rows) < AUDIT_ROWS_MAX:
            rows = (*rows, to_audit_row(result))
        self.execution = replace(
            execution,
            credits_used=execution.credits_used + fee,
            usage=execution.usage + count_use(result.model_use),
            tool_calls=rows,
            tool_calls_total=execution.tool_calls_total + 1,
        )

    def close_turn(self) -> None:
        """Close the turn: add its results as the message that the model reads next."""
        self.is_rate_limited = self.count_rate_refusals() == len(self.results)
        called = [ticket for ticket in sorted(self.results, key=lambda ticket: ticket.seq) if ticket.parent is None]
        enabled = self.execution.policy.enabled if self.execution.policy else ()
        answer = self.execution.answer if any(tool in enabled for tool in RECALLERS) else 0
        read = [fit_ticket(ticket, self.execution.surface, finders=FINDERS, answer=answer) for ticket in called]
        answers = [(ticket.call, ticket.result) for ticket in read if ticket.result is not None]
        message, definitions = build_results(answers, finders=FINDERS, listed=self.history.tools, enabled=enabled)
        self.history.append(message)
        self.history.add_tools(definitions)
        self.sizes.add_definitions(definitions)
        self.sizes.add_results(zip(read, message["content"], strict=True), enabled)
        if self.seen is not None:
            urls.note_results(self.seen, self.results)
        self.flow.note_results(self.results)
        self.label = drop_sources(join((self.label, *(label_ticket(ticket) for ticket in self.results if not ticket.hidden))))
        if self.execution.answer and self.last is not None:
            self.turns.append(write_turn(self.last, read))
        self.results = []

    def label_arguments(self, ticket: Ticket) -> FlowLabel:
        """Return the label of what a pending call is executed with: its arguments, and the results of its sub-calls so far."""
        children = (result for result in self.results if result.parent == ticket.seq)
        answers = (label_ticket(child) for child in children if ticket.hidden or not child.hidden)
        read = self._list_read(ticket) if find_tool(ticket.tool).kind == EXTRACTING else []
        return drop_sources(join((ticket.label, *answers, *read)))

    def find_value(self, call: int) -> FlowValue | None:
        """Return what a reference to a call's result hands on, with its label; None where the call has not succeeded."""
        ticket = self.answered.get(call)
        if ticket is None or ticket.result is None or not ticket.result.ok or find_tool(ticket.tool).kind == PASSING:
            return None
        label = join((label_ticket(ticket), ticket.label))
        if find_tool(ticket.tool).kind == EXTRACTING:
            label = join((label, *self._list_read(ticket)))
        return FlowValue(value=read_value(ticket.result), label=label)

    def _list_read(self, ticket: Ticket) -> list[FlowLabel]:
        """Return the label of what an extraction has read; none where that is nothing."""
        reference = read_reference(ticket.display_arguments.get("from"))
        if reference is None or reference.call == ticket.seq:
            return []
        source = self.find_value(reference.call)
        return [] if source is None else [source.label]

    def count_rate_refusals(self) -> int:
        """Return how many calls of this turn were refused for a limit of the plan."""
        return sum(ticket.result is not None and ticket.result.block_reason == RATE_LIMITED for ticket in self.results)

    def replay_turn(self) -> None:
        """Close a stored turn, whose results were counted when the next turn was committed."""
        while self.pending:
            self._take_pending(self.pending[0])
        if self.results:
            self.close_turn()

    def _count_fetches(self, tickets: Sequence[Ticket]) -> None:
        if self.seen is not None:
            for ticket in tickets:
                self.seen.count(ticket.display_arguments.get("url"), ticket.url_origin)

    def _take_pending(self, ticket: Ticket) -> ToolCallResult:
        assert ticket.result is not None, "a turn is only followed by another when all its calls were settled"
        del self.pending[0]
        self.results.append(ticket)
        self.answered[ticket.seq] = ticket
        self.usage += count_use(ticket.result.model_use)
        if not ticket.result.blocked or may_have_been_sent(ticket, ticket.result):
            self.calls_made.update(list_names(ticket))
        if ticket.result.block_reason != RATE_LIMITED:
            self.recent.append(digest_call(ticket.tool, ticket.display_arguments))
        return ticket.result


def may_have_been_sent(ticket: Ticket, result: ToolCallResult) -> bool:
    """Tell whether a call that was refused may have been sent before: where it was repeated, and no person refused it."""
    return ticket.attempt > 1 and result.block_reason not in PERSON_REASONS


def rebuild(execution: Execution, opening: ExecutionSetup, steps: Sequence[Step], tickets: Sequence[Ticket]) -> Run:
    """Return the run as of the last commit: every turn but the last with its results, the last with its tickets pending.

    The counters of the execution are as of that commit, so the last turn's calls are still to be counted.
    """
    run = Run(
        execution=replace(execution, rate=compute_rate(tickets)),
        opening=opening,
        committed=execution.credits_used,
        history=_begin_history(opening, list_first(opening)),
        has_asked=any(ticket.approval for ticket in tickets),
    )
    run.sizes.add_definitions(opening.tools)
    turns: dict[int, list[Ticket]] = {}
    for ticket in tickets:
        turns.setdefault(ticket.step, []).append(ticket)
    for step in steps:
        if run.last is not None:
            run.replay_turn()
        calls = turns.get(step.number, [])
        assert sum(ticket.parent is None for ticket in calls) == step.calls, "a turn is stored with all its calls"
        run.add_turn(step, calls)
    return run


def _begin_history(opening: ExecutionSetup, messages: Sequence[Message]) -> MessageHistory:
    history = MessageHistory(opening.system, opening.tools)
    for message in messages:
        history.append(message)
    return history


def resume_reserved(run: Run, *, credits_held: Decimal) -> None:
    """Find out of a rebuilt `run` whose record has a model call reserved whether that call may have been made.

    It is made once all calls of the last turn have settled, and not where one was settled for the execution's end. If so, they
    are counted, so that the run is as it was at that call; if not, the reservation is still there to be used, and
    `credits_held` are held for the calls.
    """
    if any(_is_open(ticket) for ticket in run.pending):
        run.is_reserved = True
        run.execution = replace(run.execution, pending_model_calls=0, credits_held=credits_held)
        return
    while run.pending:
        run.count_result(run.pending[0])
    if run.results:
        run.close_turn()


def _is_open(ticket: Ticket) -> bool:
    """Tell whether no model call can have followed a call of the last turn: it is not settled, or for the execution's end."""
    return ticket.result is None or ticket.is_answered or ticket.result.block_reason == CANCELLED


def compute_rate(tickets: Sequence[Ticket]) -> ExecutionRateState:
    """Return the rate state after the calls that were sent so far and count against the plan, in their order."""
    counted = (ticket for ticket in tickets if find_tool(ticket.tool).policy.counts)
    moments: list[datetime] = [ticket.sent_at for ticket in counted if ticket.sent_at is not None]
    return ExecutionRateState.from_moments(sorted(moments))  # a sub-call is sent before later calls of its turn
