"""Executions: one run of a task, its lease, its steps and its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any, ClassVar

from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.calls.rate import ExecutionRateState
from ferryman.domain.copies import replace
from ferryman.domain.executions.context import ExecutionContext
from ferryman.domain.executions.message import Block
from ferryman.domain.executions.origin import Origin
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.executions.surface import CALL, CHAT, TASK, TITLE, Surface
from ferryman.domain.executions.usage import Usage
from ferryman.domain.labels.label import OWNED, FlowLabel
from ferryman.domain.receipts.receipt import Head
from ferryman.domain.stored import LEFT_OUT, STORED_NAME
from ferryman.domain.workspaces.names import fill_place

INPUT_CHARACTERS_MAX = 20_000

ARGUMENTS_CHARACTERS_MAX = 100_000
"""Of the arguments of a direct call, as JSON."""

OWNER = "owner"
"""Who cancelled an execution, where it was no person."""

PAUSED = "pause_turn"
"""The stop reason of a turn that is to be continued."""

STOPPED = "stopped"
"""The stop reason of a turn that a person stopped while the model wrote it: no provider's own."""


class Status(StrEnum):
    """The state of an execution. A cancelled one ends as `killed`."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    TIMEOUT = "timeout"
    KILLED = "killed"

    @property
    def terminal(self) -> bool:
        return self not in (Status.QUEUED, Status.RUNNING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """Who runs the execution, and until when. Every claim raises `epoch`; a write with an older one is not accepted."""

    holder: str
    epoch: int
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTrouble:
    """How often the model was asked in vain for the turn that is not committed yet, and why it failed the last time.

    `unreached` of the `attempts` did not reach its provider. `cause` is our own text.
    """

    attempts: int = 0
    unreached: int = 0
    cause: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionSummary:
    """What a list tells of an execution: all that is small. Credits are Decimals.

    `conversation` is the id, chosen by its starter, of one of the agent's conversations; "" where it belongs to none.
    `person` started it; it is "" where a schedule, an application or the owner's own key did. `cancelled_by` is the person who
    cancelled it first, `OWNER` for the owner's own key; "" where nobody did.
    `slice` is the queue delivery that may go on with it, and older ones may not. `credits_held` are reserved for work under way
    and not in `credits_used` yet. `scheduled_for` is set where a schedule started it. `labels` are its starter's own; no model
    sees them. `answer` is the number of the message of its conversation that it writes; 0 for an execution of no chat.
    `waiting_for` is the approval that a person has to decide about before it goes on, since `waiting_since`; "" where it waits
    for nobody. `credits_returned` are those that were reserved and are not while it waits.
    `titled_answer` is that of the answer after which it gives its conversation a title; 0 for any other.
    `called_tool` is the tool that it calls without asking a model, with its input as the arguments; "" for any other.
    """

    id: str
    task: str
    owner: str
    workspace: str = ""
    agent: str = ""
    person: str = ""
    conversation: str = ""
    status: Status = Status.QUEUED
    labels: Mapping[str, str] = field(default_factory=dict, repr=False)
    created_at: datetime
    scheduled_for: datetime | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    iterations: int = 0
    credits_used: Decimal = Decimal(0)
    credits_reserved: Decimal = Decimal(0)
    credits_held: Decimal = Decimal(0)
    usage: Usage = field(default_factory=Usage)
    tool_calls_total: int = 0
    error: str | None = None
    cancel_requested: bool = False
    cancelled_by: str = ""
    slice: int = 0
    imported_from: Origin | None = None
    answer: int = 0
    waiting_for: str = field(default="", metadata=LEFT_OUT)
    waiting_since: datetime | None = field(default=None, metadata=LEFT_OUT)
    credits_returned: Decimal = field(default=Decimal(0), metadata=LEFT_OUT)
    titled_answer: int = 0
    called_tool: str = field(default="", metadata=LEFT_OUT)

    fills_defaults_only: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Put an execution that names no workspace into its owner's default one, and give it that one's default agent."""
        fill_place(self)

    @property
    def surface(self) -> Surface:
        """The rules by which the loop runs it."""
        if self.titled_answer:
            return TITLE
        if self.called_tool:
            return CALL
        return CHAT if self.answer else TASK

    @property
    def is_in_chat(self) -> bool:
        """Whether it belongs to a conversation of people: as an answer, or as what gives it a title."""
        return bool(self.answer or self.titled_answer)

    @property
    def context(self) -> ExecutionContext:
        """What everything that its calls store or read is scoped by."""
        return ExecutionContext(
            user=self.person or self.owner,
            owner=self.owner,
            workspace=self.workspace,
            agent=self.agent,
            task=self.task,
            execution=self.id,
            conversation=self.conversation,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution(ExecutionSummary):
    """The execution document. `tool_calls` holds at most 50 audit rows: results without their parts.

    `events` counts the events numbered so far. `pending_model_calls` counts the model calls that were sent for the turn that is
    not committed yet, and `model_trouble` tells of those that failed.

    `trace` is its trace context (W3C); `receipts` is the head of its chain of receipts. `schedule_generation` is set where a
    schedule started it. `coverage` is sealed to the key holders: which characters of which secrets its calls have sent so far.
    `retention_days` is how many days its workspace keeps it after its end, as it was when the execution was created; None: as
    many as the deployment. `taken_over_by` is who answers for it since the person who started it left the workspace, `OWNER`
    for the owner's own key. `question` is the number of the message that its answer is to; 0 where it answers none. `model` is
    what its starter asked for, "" for the task's; without `enable_tools` it has none (S3-40). `waited_s` is for how many
    seconds it has waited for people so far: they are not of its time limit. `begins_title` tells that its
    conversation is given a title by the model once it is completed. `is_from_client` tells that its input came through an MCP
    client: nobody knows who wrote it, so it is untrusted.
    """

    question: int = 0
    model: str = ""
    enable_tools: bool = True
    begins_title: bool = False
    is_from_client: bool = False
    input: str | None = field(default=None, repr=False)
    schedule_generation: int | None = None
    retention_days: int | None = None
    taken_over_by: str = ""
    pending_model_calls: int = field(default=0, metadata={STORED_NAME: "asked"})
    model_trouble: ModelTrouble = field(default_factory=ModelTrouble)
    tool_calls: tuple[ToolCallResult, ...] = field(default=(), repr=False)
    output: str | None = field(default=None, repr=False)
    lease: Lease | None = None
    policy: ExecutionPolicy | None = None
    rate: ExecutionRateState = field(default_factory=ExecutionRateState)
    events: int = 0
    trace: str = ""
    receipts: Head = field(default_factory=Head)
    coverage: bytes = field(default=b"", repr=False)
    waited_s: float = field(default=0.0, metadata=LEFT_OUT)

    def restore(self) -> Execution:
        """Return the execution with the ids that it had where it ran; itself where it was not imported."""
        if self.imported_from is None:
            return self
        ids: Mapping[str, Any] = self.imported_from.ids
        return replace(self, imported_from=None, **ids)

    @property
    def has_foreign_input(self) -> bool:
        """Whether what it is given came through an MCP client."""
        return self.is_from_client and bool(self.input)

    @property
    def epoch(self) -> int:
        """The epoch of the latest lease; 0 before the first."""
        return self.lease.epoch if self.lease else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryPlan:
    """What an answer begins with where its history is long: the first `count` messages of the history become a summary.

    `through` is the number of the last message of the conversation that the summary replaces.
    """

    count: int
    through: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionSetup:
    """Step 0: everything that the model calls are made of, so that a replay needs nothing else. Scanned.

    `history` are the messages before the prompt, where this is an answer in a conversation; `questions` are the numbers of
    those that people wrote here. With a `summary` the first turn makes one of some of them. `label` is that of all that the
    model reads at first: of the history, of the files that come with a message, and of the definitions of tools.

    `is_prompt_foreign` tells that the prompt came through an MCP client: it is none of what people wrote here.

    `price` is the price of a million of the model's tokens in USD at the start, by kind of token; `timeout_s` is the time limit
    of the execution, in seconds.
    """

    model: str
    system: str = field(repr=False)
    prompt: str = field(repr=False)
    tools: tuple[Mapping[str, Any], ...] = field(repr=False)
    max_tokens: int
    temperature: float | None
    max_iterations: int
    max_credits: Decimal
    started_at: datetime
    price: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = field(default=0.0, metadata={STORED_NAME: "patience_s"})
    history: tuple[Mapping[str, Any], ...] = field(default=(), repr=False, metadata=LEFT_OUT)
    questions: tuple[int, ...] = field(default=(), metadata=LEFT_OUT)
    label: FlowLabel = field(default=OWNED, metadata=LEFT_OUT)
    summary: SummaryPlan | None = field(default=None, metadata=LEFT_OUT)
    is_prompt_foreign: bool = field(default=False, metadata=LEFT_OUT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One turn, numbered from 1: the model's content (scanned), and the calls that it asked for (`first_call`, `calls`).

    `event` is the number of the turn's own event; each call takes the two numbers that follow. `slice` is the delivery that
    committed it, `prompt_digest` the SHA-256 of the prompt in hex (`message.digest_prompt`).
    A turn that `summarizes` is no part of the answer: its text replaces so many messages of the history from then on.
    """

    number: int
    content: tuple[Block, ...] = field(repr=False)
    stop_reason: str
    usage: Usage
    credits: Decimal
    first_call: int
    calls: int
    event: int
    at: datetime
    slice: int = 0
    prompt_digest: str = ""
    summarizes: int = field(default=0, metadata=LEFT_OUT)

    @property
    def receipt(self) -> int:
        """The number of the receipt that the model replied.

        Before it in the chain are that of the opening, those of the turns before, and two of each call before: that it was
        planned, and that it has settled.
        """
        return self.number + 2 * self.first_call

    @property
    def is_paused(self) -> bool:
        """Whether the provider broke off a turn of its own tools, and goes on where the turn is sent back to it."""
        return self.stop_reason == PAUSED and bool(self.content)
