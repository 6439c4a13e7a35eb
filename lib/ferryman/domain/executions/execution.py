"""Executions: one run of a task, its lease, its steps and how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.calls.rate import ExecutionRateState
from ferryman.domain.executions.message import Block
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.executions.usage import Usage
from ferryman.domain.receipts.receipt import Head

INPUT_CHARACTERS_MAX = 20_000


class Status(StrEnum):
    """Where an execution stands. `killed` is what a cancel leads to."""

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
class Execution:
    """The execution document. Credits are Decimals; `tool_calls` holds at most 50 audit rows of all ten fields.

    `events` counts the events numbered so far; `slice` is the queue delivery that may go on with it, and older ones may not.
    `credits_held` are set aside for what is under way and not in `credits_used` yet; `asked` counts the model calls that were
    sent for a turn which is not committed yet. `trace` is what its spans go on with, as W3C's Trace Context writes it;
    `receipts` is where its chain of receipts ends. One that a schedule started
    tells the time it was `scheduled_for`, and the generation of that schedule. `coverage` is sealed to the key holders: which
    characters of which secrets its calls have sent so far.
    """

    id: str
    task: str
    owner: str
    status: Status = Status.QUEUED
    input: str | None = field(default=None, repr=False)
    created_at: datetime
    scheduled_for: datetime | None = None
    schedule_generation: int | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    iterations: int = 0
    credits_used: Decimal = Decimal(0)
    credits_reserved: Decimal = Decimal(0)
    credits_held: Decimal = Decimal(0)
    asked: int = 0
    usage: Usage = field(default_factory=Usage)
    tool_calls: tuple[ToolCallResult, ...] = field(default=(), repr=False)
    tool_calls_total: int = 0
    output: str | None = field(default=None, repr=False)
    error: str | None = None
    cancel_requested: bool = False
    lease: Lease | None = None
    slice: int = 0
    policy: ExecutionPolicy | None = None
    rate: ExecutionRateState = field(default_factory=ExecutionRateState)
    events: int = 0
    trace: str = ""
    receipts: Head = field(default_factory=Head)
    coverage: bytes = field(default=b"", repr=False)

    @property
    def epoch(self) -> int:
        """The epoch of the latest lease; 0 before the first."""
        return self.lease.epoch if self.lease else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionSetup:
    """Step 0: everything the model calls are made of, so that a replay needs nothing else. Scanned.

    `price` is what a million of the model's tokens cost in USD when it began, by kind of token; `patience_s` is how long the
    execution may take, in seconds.
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
    patience_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One turn, numbered from 1: what the model said (scanned), and which calls it asked for (`first_call`, `calls`).

    `event` is the number of the turn's own event; each call takes the two numbers that follow. `slice` is the delivery that
    committed it, `prompt_digest` the SHA-256 of what the model was asked (`message.canonical`), in hex.
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
