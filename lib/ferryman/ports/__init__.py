"""Ports: what the house asks of the world, each a Protocol of few methods."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol

from ferryman.domain.address import Address
from ferryman.domain.call import Ticket, ToolCall, ToolCallResult
from ferryman.domain.credential import Sealed
from ferryman.domain.execution import Execution, Opening, Status, Step
from ferryman.domain.firing import Fire
from ferryman.domain.ledger import Entry
from ferryman.domain.message import Block, Prompt, Reply
from ferryman.domain.owner import Owner
from ferryman.domain.purse import Insufficient as Insufficient
from ferryman.domain.purse import Purse
from ferryman.domain.receipt import Receipt
from ferryman.domain.remit import Remit
from ferryman.domain.stale import Stale as Stale
from ferryman.domain.task import Task
from ferryman.domain.tool import Tool
from ferryman.ports.custom import Clusters as Clusters
from ferryman.ports.custom import Connections as Connections
from ferryman.ports.custom import Connector as Connector
from ferryman.ports.custom import Documents as Documents
from ferryman.ports.custom import Tokens as Tokens

NOW = timedelta(0)


class Unavailable(Exception):  # noqa: N818 - reads as the fact it states
    """The other side could not answer now; trying again later is right.

    `after_s` is its own hint, in seconds; `lost` tells that it may have done what it was asked, without our hearing of it.
    """

    def __init__(self, message: str, *, after_s: float | None = None, lost: bool = False) -> None:
        super().__init__(message)
        self.after_s = after_s
        self.lost = lost


class Halted(Exception):  # noqa: N818 - reads as the fact it states
    """A kill switch is on, or was since the execution was created; the text says whose."""


class Disabled(Halted):
    """The execution's task was disabled or deleted."""


class Rejected(Exception):  # noqa: N818 - reads as the fact it states
    """The other side will not do this, however often it is asked; its text may be shown to the owner.

    `lost` tells that it did something all the same, and that nobody knows how much.
    """

    def __init__(self, message: str, *, lost: bool = False) -> None:
        super().__init__(message)
        self.lost = lost


class Clock(Protocol):
    """The time, in UTC."""

    def now(self) -> datetime: ...


class Ids(Protocol):
    """New names: URL-safe, at most 40 characters, not guessable."""

    def new(self, prefix: str) -> str: ...


class Owners(Protocol):
    """Owners and their API keys, which are stored as SHA-256 only."""

    async def get(self, owner: str) -> Owner | None: ...
    async def put(self, owner: Owner) -> None: ...
    async def by_key(self, digest: str) -> str | None: ...
    async def add_key(self, digest: str, owner: str, at: datetime) -> None: ...


class Tasks(Protocol):
    """Tasks. `update` and `delete` tell whether the task was there; with it go its credentials.

    `update` writes only `fields` of the task and its `updated_at`, and raises `Stale`, with nothing written, when the stored
    task was changed at another moment than `since`: the `updated_at` of the task that was read.
    """

    async def get(self, task: str) -> Task | None: ...
    async def create(self, task: Task) -> None: ...
    async def update(self, task: Task, fields: Collection[str], *, since: datetime) -> bool: ...
    async def list(self, owner: str) -> Sequence[Task]: ...
    async def count(self, owner: str) -> int: ...
    async def delete(self, task: str) -> bool: ...


class Credentials(Protocol):
    """A task's sealed credentials. The version that must be current stands beside the task, so a rolled-back one shows.

    `put` raises `Stale` when the label's version is not the next one. `reseal` stores ciphertext and key version of `after`,
    and tells whether it did: not where something else than `before` is stored by now. `swap` stores all of `after`, which is of
    the same version or of the next one, under the same condition.
    """

    async def next_version(self, task: str, name: str) -> int: ...
    async def put(self, sealed: Sealed) -> None: ...
    async def reseal(self, before: Sealed, after: Sealed) -> bool: ...
    async def swap(self, before: Sealed, after: Sealed) -> bool: ...
    async def list(self, task: str) -> Sequence[Sealed]: ...
    async def delete(self, task: str, name: str) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn's commit: the step, its tickets, what it moves in the ledger, and its receipts."""

    step: Step
    tickets: tuple[Ticket, ...]
    entry: Entry | None = None
    receipts: tuple[Receipt, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How an execution ended."""

    status: Status
    output: str | None = field(default=None, repr=False)
    error: str | None = None
    entry: Entry | None = None
    receipts: tuple[Receipt, ...] = ()


class Executions(Protocol):
    """Executions as the orchestrator and the API see them.

    A write takes the execution as its holder has it and raises `Stale` when that lease has moved on or run out. `claim` answers
    the execution with a fresh lease and True, or the execution as it stands and False (ended, gone on to a later slice, or
    held by another); it raises KeyError for one that does not exist. `open` stores remit and step 0 and takes the opening's
    credits from the purses of owner and task, or raises `Insufficient`. `renew` moves the lease's end and answers the execution
    with the cancel flag as it stands; `ask` does so before a model call, and stores `asked` and `credits_held` unless the
    execution was cancelled. Both raise `Halted` when a kill switch stops it, `Disabled` when its task is gone or disabled.
    `commit` stores the turn with the execution's counters, renews the lease and answers the execution with that lease. `settle`
    answers the result that holds: the given one, or the one that was there before. `give_up` ends the lease for whoever comes
    next, and stores `asked` and `credits_held`; `hand_over` does so for the next slice, whose number it answers. `finish` ends
    the execution and gives the rest of the reservation back.
    """

    async def create(self, execution: Execution) -> None: ...
    async def get(self, execution: str) -> Execution | None: ...
    async def list(self, owner: str, *, task: str | None = None, most: int = 50) -> Sequence[Execution]: ...
    async def claim(
        self,
        execution: str,
        *,
        slice: int,
        holder: str,
        now: datetime,
        lease: timedelta,
    ) -> tuple[Execution, bool]: ...
    async def open(
        self, execution: Execution, opening: Opening, *, entry: Entry, receipts: tuple[Receipt, ...] = (), now: datetime
    ) -> None: ...
    async def ask(self, execution: Execution, *, now: datetime, lease: timedelta) -> Execution: ...
    async def commit(self, execution: Execution, turn: Turn, *, now: datetime, lease: timedelta) -> Execution: ...
    async def renew(self, execution: Execution, *, now: datetime, lease: timedelta) -> Execution: ...
    async def settle(
        self, execution: Execution, seq: int, result: ToolCallResult, *, now: datetime, in_doubt: bool = False
    ) -> ToolCallResult: ...
    async def give_up(self, execution: Execution, *, now: datetime) -> None: ...
    async def hand_over(self, execution: Execution, *, now: datetime) -> int: ...
    async def finish(self, execution: Execution, ending: Ending, *, now: datetime) -> None: ...
    async def cancel(self, execution: str, *, now: datetime) -> Execution | None: ...
    async def opening(self, execution: str) -> Opening | None: ...
    async def steps(self, execution: str, *, after: int = 0) -> Sequence[Step]: ...
    async def tickets(self, execution: str, *, first: int = 0) -> Sequence[Ticket]: ...
    async def receipts(self, execution: str) -> Sequence[Receipt]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Summons:
    """Which call a tool function is asked to carry; whatever else there is to know of it is believed as stored."""

    execution: str
    seq: int
    epoch: int
    task: str
    owner: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """What a tool function gets when it claims a ticket: the ticket, the frozen remit, the fresh credential versions.

    `created` is when its execution was, `task_name` what its task is called; `again` tells that an earlier attempt was sent and
    nobody knows what came of it; `mark` is the store's own.
    """

    summons: Summons
    ticket: Ticket
    remit: Remit
    versions: Mapping[str, int]
    created: datetime
    task_name: str = ""
    again: bool = False
    mark: Any = field(default=None, repr=False, compare=False)


class Tickets(Protocol):
    """Tickets as a tool function sees them.

    `claim` moves intended to sent in one transaction that also reads execution, task and kill switches; it raises `Stale` when
    the epoch is not the current lease's, the lease has expired, the execution was cancelled or stopped, or the ticket is
    already on its way; it answers a settled ticket as it stands, and a sent one whose deadline has passed `again`. `settle`
    records the result of one attempt, `release` that an attempt never sent anything, so that the call may be claimed again.
    `scope` answers the execution whose lease has this epoch, with the versions its task's credentials must have.
    """

    async def claim(self, summons: Summons, *, tool: str, now: datetime) -> Errand: ...
    async def settle(self, errand: Errand, result: ToolCallResult, *, now: datetime, in_doubt: bool = False) -> None: ...
    async def release(self, errand: Errand) -> None: ...
    async def scope(self, execution: str, *, epoch: int, now: datetime) -> tuple[Execution, Mapping[str, int]]: ...


class Halts(Protocol):
    """The kill switches: each owner's own, and the operator's over the whole house (owner None).

    `standing` answers what stops the executions of `owner`, in words, or None; and what stops one that was `created` then: a
    switch that was let go since still does, or what only waited would go on.
    """

    async def standing(self, owner: str, *, created: datetime | None = None) -> str | None: ...
    async def put(self, owner: str | None, *, on: bool, now: datetime) -> None: ...


class Ledger(Protocol):
    """What became of the credits, as the executions' writes entered it."""

    async def purse(self, purse: str) -> Purse: ...
    async def of_execution(self, execution: str) -> Sequence[Entry]: ...
    async def of_owner(self, owner: str, *, since: datetime, until: datetime) -> Sequence[Entry]: ...


class Keys(Protocol):
    """The private halves of one key pair, by version number. Raises `Unavailable` or `KeyError`."""

    async def private(self, version: int) -> bytes: ...


class Signer(Protocol):
    """One version of the key that receipts are signed with."""

    @property
    def version(self) -> int: ...
    def sign(self, message: bytes) -> bytes: ...


class Signing(Protocol):
    """The key that receipts are signed with, as it is now. Raises `Unavailable`."""

    async def key(self) -> Signer: ...


class Queue(Protocol):
    """The executions queue. Enqueuing the same execution and slice twice enqueues once; a `nudge` is one more delivery."""

    async def enqueue(
        self,
        execution: str,
        *,
        slice: int,
        after: timedelta = NOW,
        nudge: str = "",
    ) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Fired:
    """A task after one of its times was delivered, and the execution that time has made, now or before. None: not there."""

    task: Task | None
    execution: Execution | None


class Schedules(Protocol):
    """The scheduled tasks.

    `fire` has a time come true in one transaction: once it is due, and only while it is the task's next one, it makes the
    execution and moves the task to its next time, or pauses it; at any other moment it changes nothing. It raises `Halted`
    when a kill switch keeps a due one from starting. `overdue` answers the times before `before` that have not come true, and
    `armed` whether any task waits for one; `count` is how many tasks of an owner have a schedule.
    """

    async def fire(self, fire: Fire, *, now: datetime) -> Fired: ...
    async def overdue(self, *, before: datetime) -> Sequence[Fire]: ...
    async def armed(self) -> bool: ...
    async def count(self, owner: str) -> int: ...


class Timers(Protocol):
    """The schedules queue, at most 30 days ahead. The same timer set twice is set once; with a `nudge` it is one more."""

    async def set(self, fire: Fire, *, due: datetime, nudge: str = "") -> None: ...
    async def sweep(self, *, due: datetime) -> None: ...


class Model(Protocol):
    """A language model. Raises `Unavailable` (try later) or `Rejected` (never)."""

    async def reply(self, prompt: Prompt) -> Reply: ...


class Toolbox(Protocol):
    """Carries a journaled call to its tool and brings back the result. Raises `Stale` or `Unavailable`."""

    async def run(self, tool: str, *, execution: Execution, seq: int) -> ToolCallResult: ...


class Scanner(Protocol):
    """Has a key holder look through what the model said, and answers the form that may come to rest.

    Raises `Stale`, `Unavailable`, or `Rejected` when one of the task's credentials does not open.
    """

    async def scan(self, execution: Execution, content: Sequence[Block]) -> Sequence[Block]: ...


class Registry(Protocol):
    """The tools as the loop uses them: what the model is shown, and one call carried out."""

    def get_definitions(self, enabled: Collection[str], *, services: Collection[str] = ()) -> list[dict[str, Any]]: ...
    async def execute(
        self, call: ToolCall, context: Crossing, *, enabled: Collection[str], admit: Callable[[Tool], None]
    ) -> ToolCallResult: ...


@dataclass(slots=True, kw_only=True)
class Crossing:
    """One call on its way through the registry; the handler marks it `carried` when it has handed the call to its tool."""

    execution: Execution
    ticket: Ticket
    carried: bool = False


class Names(Protocol):
    """Name resolution. Answers every address of `host`, or raises OSError."""

    async def resolve(self, host: str) -> Sequence[Address]: ...


class Sealer(Protocol):
    """Seals with the public key; anyone may. `info` is bound to the ciphertext."""

    @property
    def version(self) -> int: ...
    def seal(self, plaintext: bytes, info: bytes) -> bytes: ...


class Callers(Protocol):
    """Who is calling: checks an identity token and answers the caller's e-mail, or raises PermissionError."""

    async def identify(self, authorization: str | None, *, audience: str) -> str: ...


class Log(Protocol):
    """One canonical line per thing done; never a secret in it."""

    def line(self, event: str, **fields: Any) -> None: ...


class Span(Protocol):
    """A stretch of work that is traced. `content` is what somebody said, scanned, and kept only where that is asked for."""

    def set(self, attributes: Mapping[str, Any]) -> None: ...
    def content(self, attributes: Mapping[str, Any]) -> None: ...
    def failed(self, kind: str) -> None: ...


class Tracer(Log, Protocol):
    """The log, and spans by OpenTelemetry's names. `parent` and `traceparent` are as W3C's Trace Context writes them.

    `kind` is server, client or internal; `flush` is awaited at the end of a request.
    """

    def span(
        self, name: str, attributes: Mapping[str, Any] | None = None, *, kind: str = "internal", parent: str = ""
    ) -> AbstractContextManager[Span]: ...
    def traceparent(self) -> str: ...
    async def flush(self) -> None: ...


Json = Mapping[str, Any]
