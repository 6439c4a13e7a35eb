"""Ports: what the house asks of the world, each a Protocol of few methods."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Protocol

from ferryman.domain.address import Address
from ferryman.domain.call import Ticket, ToolCall, ToolCallResult
from ferryman.domain.credential import Sealed
from ferryman.domain.execution import Execution, Opening, Status, Step
from ferryman.domain.message import Block, Prompt, Reply
from ferryman.domain.owner import Owner
from ferryman.domain.remit import Remit
from ferryman.domain.task import Task
from ferryman.domain.tool import Tool

NOW = timedelta(0)


class Stale(Exception):  # noqa: N818 - reads as the fact it states
    """The lease has passed to another holder, or has expired: this write or call is not accepted."""


class Unavailable(Exception):  # noqa: N818 - reads as the fact it states
    """The other side could not answer now; trying again later is right. `after_s` is its own hint, in seconds."""

    def __init__(self, message: str, *, after_s: float | None = None) -> None:
        super().__init__(message)
        self.after_s = after_s


class Insufficient(Exception):  # noqa: N818 - reads as the fact it states
    """The owner's credits of this month do not cover what was to be reserved; nothing was."""


class Rejected(Exception):  # noqa: N818 - reads as the fact it states
    """The other side will not do this, however often it is asked; its text may be shown to the owner."""


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

    `put` raises `Stale` when the label's version is not the next one.
    """

    async def next_version(self, task: str, name: str) -> int: ...
    async def put(self, sealed: Sealed) -> None: ...
    async def list(self, task: str) -> Sequence[Sealed]: ...
    async def delete(self, task: str, name: str) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn's commit: the step, its tickets, what they leave the execution at."""

    step: Step
    tickets: tuple[Ticket, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How an execution ended."""

    status: Status
    output: str | None = field(default=None, repr=False)
    error: str | None = None


class Executions(Protocol):
    """Executions as the orchestrator and the API see them.

    A write takes the execution as its holder has it and raises `Stale` when that lease has moved on or run out. `claim` answers
    the execution with a fresh lease and True, or the execution as it stands and False (terminal, or leased to another); it
    raises KeyError for one that does not exist. `open` stores remit and step 0 and reserves `reserve` credits of the owner's
    month, or raises `Insufficient`. `renew` moves the lease's end (a lease of zero gives it up) and answers the execution with
    the cancel flag as it stands. `commit` stores the turn with the execution's counters, renews the lease and answers the
    execution with that lease. `settle` answers the result that holds: the given one, or the one that was there before.
    `finish` ends it and settles the reservation.
    """

    async def create(self, execution: Execution) -> None: ...
    async def get(self, execution: str) -> Execution | None: ...
    async def list(self, owner: str, *, task: str | None = None, most: int = 50) -> Sequence[Execution]: ...
    async def claim(self, execution: str, *, holder: str, now: datetime, lease: timedelta) -> tuple[Execution, bool]: ...
    async def open(self, execution: Execution, opening: Opening, *, reserve: Decimal, now: datetime) -> None: ...
    async def commit(self, execution: Execution, turn: Turn, *, now: datetime, lease: timedelta) -> Execution: ...
    async def renew(self, execution: Execution, *, now: datetime, lease: timedelta) -> Execution: ...
    async def settle(self, execution: Execution, seq: int, result: ToolCallResult, *, now: datetime) -> ToolCallResult: ...
    async def finish(self, execution: Execution, ending: Ending, *, now: datetime) -> None: ...
    async def cancel(self, execution: str, *, now: datetime) -> Execution | None: ...
    async def opening(self, execution: str) -> Opening | None: ...
    async def steps(self, execution: str, *, after: int = 0) -> Sequence[Step]: ...
    async def tickets(self, execution: str, *, first: int = 0) -> Sequence[Ticket]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """What a tool function gets when it claims a ticket: the ticket, the frozen remit, the fresh credential versions."""

    ticket: Ticket
    remit: Remit
    versions: Mapping[str, int]


class Tickets(Protocol):
    """Tickets as a tool function sees them.

    `claim` moves intended to sent in one transaction that also reads execution and task; it raises `Stale` when the epoch is
    not the current lease's, the lease has expired, the execution was cancelled or the ticket is already on its way; it
    answers a settled ticket as it stands. `settle` records the result of one attempt, `release` that an attempt never sent
    anything, so that the call may be claimed again. `scope` names the task of an execution
    whose lease has this epoch, with the versions its credentials must have.
    """

    async def claim(self, execution: str, seq: int, *, epoch: int, tool: str, now: datetime) -> Errand: ...
    async def settle(self, execution: str, seq: int, *, attempt: int, result: ToolCallResult, now: datetime) -> None: ...
    async def release(self, execution: str, seq: int, *, attempt: int) -> None: ...
    async def scope(self, execution: str, *, epoch: int, now: datetime) -> tuple[str, Mapping[str, int]]: ...


class Keys(Protocol):
    """The private halves of the sealing key pair, by version number. Raises `Unavailable` or `KeyError`."""

    async def private(self, version: int) -> bytes: ...


class Queue(Protocol):
    """The executions queue. Enqueuing the same execution and slice twice enqueues once."""

    async def enqueue(self, execution: str, *, slice: int, after: timedelta = NOW) -> None: ...  # noqa: A002 - the field's own word


class Model(Protocol):
    """A language model. Raises `Unavailable` (try later) or `Rejected` (never)."""

    async def reply(self, prompt: Prompt) -> Reply: ...


class Toolbox(Protocol):
    """Carries a journaled call to its tool and brings back the result. Raises `Stale` or `Unavailable`."""

    async def run(self, tool: str, *, execution: str, seq: int, epoch: int) -> ToolCallResult: ...


class Scanner(Protocol):
    """Has a key holder look through what the model said, and answers the form that may come to rest.

    Raises `Stale`, `Unavailable`, or `Rejected` when one of the task's credentials does not open.
    """

    async def scan(self, execution: str, *, epoch: int, content: Sequence[Block]) -> Sequence[Block]: ...


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


class Tracer(Protocol):
    """One canonical line per thing done; never a secret in it."""

    def line(self, event: str, **fields: Any) -> None: ...


Json = Mapping[str, Any]
