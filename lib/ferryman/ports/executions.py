"""The port of executions, as the orchestrator and the API see them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Protocol

from ferryman.domain.calls.call import Ticket, ToolCallResult
from ferryman.domain.conversations.message import Message
from ferryman.domain.copies import replace
from ferryman.domain.credits.ledger import LedgerEntry
from ferryman.domain.executions.execution import Execution, ExecutionSetup, ExecutionSummary, Status, Step
from ferryman.domain.executions.occupancy import Occupancy
from ferryman.domain.files.kept import Overflow
from ferryman.domain.files.writes import ClosedWrite
from ferryman.domain.metering.event import UsageEvent
from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.page import Page, Position
from ferryman.domain.receipts.receipt import Receipt
from ferryman.ports.live import LiveTurns
from ferryman.ports.requests import Requests


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnCommit:
    """One turn's commit: the step, its tickets, what it moves in the ledger, its receipts, and what was used since the last."""

    step: Step
    tickets: tuple[Ticket, ...]
    entry: LedgerEntry | None = None
    receipts: tuple[Receipt, ...] = ()
    usage_event: UsageEvent | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionEnding:
    """How an execution ended; `message` is the answer that it leaves in its conversation, None for its output alone.

    `title` is what it names its conversation, "" for nothing.
    """

    status: Status
    output: str | None = field(default=None, repr=False)
    error: str | None = None
    entry: LedgerEntry | None = None
    receipts: tuple[Receipt, ...] = ()
    usage_event: UsageEvent | None = None
    message: Message | None = field(default=None, repr=False)
    title: str = field(default="", repr=False)

    def apply(self, execution: Execution, *, now: datetime) -> Execution:
        """Return the execution as it ended `now`, without its lease."""
        return replace(execution, status=self.status, output=self.output, error=self.error, completed_at=now, lease=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which executions are listed: those of a task, of an agent, in a status, created at a moment or later; None: any.

    `is_waiting` lists those alone that wait for a person.
    """

    task: str | None = None
    agent: str | None = None
    status: Status | None = None
    since: datetime | None = None
    is_waiting: bool = False

    def passes(self, execution: ExecutionSummary) -> bool:
        """Return whether `execution` is one of them."""
        return (
            self.task in (None, execution.task)
            and self.agent in (None, execution.agent)
            and self.status in (None, execution.status)
            and (self.since is None or execution.created_at >= self.since)
            and (not self.is_waiting or execution.waiting_for != "")
        )


ALL = Filter()


class Executions(Requests, LiveTurns, Protocol):
    """The executions, as the orchestrator and the API see them.

    Every write of a holder takes the execution as that holder has it, and raises `StaleError` when its lease has passed to
    another holder or has expired (fencing: the lease's epoch is the token).
    """

    async def start(self, execution: Execution, *, most: int, done: Completion | None = None) -> Occupancy:
        """Store a new execution, and `done` with it, in one transaction. Return its owner's occupancy with it.

        It is stored with the retention of its workspace, as every execution is that a store creates.

        Raise `TaskDisabledError` when its task was deleted or disabled, `TooManyQueuedError` where its owner has `most` queued,
        and `AnsweredError` where the request was answered; nothing is stored then.
        """

    async def next_queued(self, owner: str, *, now: datetime) -> Sequence[str]:
        """Return the owner's queued executions that there are free slots for."""

    async def list_unfinished(self, owner: str) -> Sequence[str]:
        """Return the owner's executions that have not ended, in all workspaces, those first that have started."""

    async def get(self, execution: str) -> Execution | None:
        """Return the execution, or None where there is none that can be read."""

    async def list(
        self, workspace: str, *, which: Filter = ALL, after: Position | None = None, most: int = 50
    ) -> Page[ExecutionSummary]:
        """Return at most `most` executions of `workspace` that pass `which`, the newest first, from behind `after`.

        What cannot be read is left out: a page may hold fewer than `most` and not be the last.
        """

    async def claim(
        self, execution: str, *, slice: int, holder: str, now: datetime, lease: timedelta
    ) -> tuple[Execution, bool]:
        """Return the execution with a new lease and True, or the stored execution and False where it is not to be run.

        It is not where it has ended, is in a later slice, or has another holder. Raise KeyError for an unknown execution,
        `AnswerNotNextError` where an earlier answer of its conversation has not ended, `NoFreeSlotError` where as many of the
        owner's executions hold a lease as the plan allows, and `NotAdmittedError` for a document that an application wrote.
        """

    async def open(
        self,
        execution: Execution,
        opening: ExecutionSetup,
        *,
        entry: LedgerEntry,
        receipts: tuple[Receipt, ...] = (),
        now: datetime,
    ) -> None:
        """Store policy and step 0, and reserve the first model call, and the setup's credits on the balance of its owner.

        Raise `InsufficientCreditsError` where a cap of the policy leaves less: nothing is stored then but the alert of that,
        where the month has none of it yet and it is no title that is refused. Its `alert` is the one to be sent, if any is.
        """

    async def check(self, execution: Execution, *, now: datetime) -> Execution:
        """Return the execution with its cancel flag, where it may ask its model: before a call that a commit has reserved.

        Raise `StaleError`, `HaltedError` or `TaskDisabledError`. Nothing is stored.
        """

    async def ask(self, execution: Execution, *, now: datetime, lease: timedelta) -> Execution:
        """Check as `check` does, renew the lease, and store `pending_model_calls` and `credits_held`: for any other model call.

        Return the execution with that lease; where it is cancelled, store nothing and return it with its cancel flag.
        """

    async def commit(self, execution: Execution, turn: TurnCommit, *, now: datetime, lease: timedelta) -> Execution:
        """Store a turn and the execution's counters, renew the lease, and return the execution with it.

        Its `pending_model_calls` and `credits_held` reserve the model call that follows the turn's calls.
        """

    async def journal_sub_calls(
        self, execution: Execution, tickets: Sequence[Ticket], *, receipts: tuple[Receipt, ...], now: datetime
    ) -> Execution:
        """Store the calls that a call of the last turn asks for, the count of events and the receipts; return the execution."""

    async def renew(self, execution: Execution, *, now: datetime, lease: timedelta) -> Execution:
        """Renew the lease, and return the execution with it and with the stored cancel flag.

        Raise `HaltedError` when a kill switch stops it, `TaskDisabledError` when its task was deleted or disabled.
        """

    async def settle(
        self, execution: Execution, seq: int, result: ToolCallResult, *, now: datetime, in_doubt: bool = False
    ) -> Ticket:
        """Store the result of call `seq` unless it has one, and return the ticket as it is stored then."""

    async def read_overflow(self, execution: str, seq: int) -> Overflow | None:
        """Return what is yet to be kept of the result of call `seq`, None where nothing is."""

    async def settle_answered(
        self, execution: Execution, seq: int, result: ToolCallResult, write: ClosedWrite | None, *, now: datetime
    ) -> Ticket:
        """Settle call `seq`, which has answered: store its final result, close the write of its file in the quota, and delete
        its overflow, all of it or nothing. One that is settled stays as it is. Return the ticket as it is stored then."""

    async def give_up(self, execution: Execution, *, now: datetime) -> None:
        """End the lease, so that the next delivery may claim the execution; store `pending_model_calls` and `credits_held`."""

    async def hand_over(self, execution: Execution, *, now: datetime) -> int:
        """Do as `give_up` does, for the next slice. Return that slice's number."""

    async def park(self, execution: Execution, *, waiting_for: str, keep: Decimal, now: datetime) -> int:
        """Hand over to the next slice until a person decides: give lease, slot, and the reservation beyond `keep` credits back.

        Return that slice's number. Raise `StaleError`.
        """

    async def resume(self, execution: Execution, *, reserve: Decimal, now: datetime) -> Execution:
        """Take the reservation of a parked execution up to `reserve` credits again, and count how long it has waited.

        Return the execution, which waits for nobody. Raise `InsufficientCreditsError` as `open` does, and `StaleError`.
        """

    async def finish(self, execution: Execution, ending: ExecutionEnding, *, now: datetime) -> Sequence[str] | None:
        """End the execution, give the rest of its reservation back, and store the alerts of the caps that this takes further.

        The title of an ending becomes that of the conversation, unless a person has named it.
        Return the ids of these alerts, which are to be sent. Return None, with nothing stored, where it was cancelled since its
        holder read it: the receipts do not cover that.
        """

    async def list_unsent_alerts(self, execution: str) -> Sequence[str]:
        """Return the ids of the alerts of this execution that are still to be sent."""

    async def cancel(self, execution: str, *, by: str, now: datetime) -> Execution | None:
        """Set the cancel flag, or end the execution at once where it has not started; return it, or None for an unknown id.

        `by` is the person who asks for it, or `OWNER`; who asked first stays.
        """

    async def opening(self, execution: str) -> ExecutionSetup | None:
        """Return step 0, or None before it is stored."""

    async def steps(self, execution: str, *, after: int = 0, most: int | None = None) -> Sequence[Step]:
        """Return the turns numbered above `after`, in order, and at most so many."""

    async def tickets(self, execution: str, *, first: int = 0, most: int | None = None) -> Sequence[Ticket]:
        """Return the calls from `first` on, in order, and at most so many."""

    async def brief_steps(self, execution: str, *, after: int, most: int) -> Sequence[Step]:
        """Return the same turns as `steps`, without what the model wrote, which is not read."""

    async def brief_tickets(self, execution: str, *, first: int, most: int) -> Sequence[Ticket]:
        """Return the same calls as `tickets`, each as `to_brief` makes it: the rest of them is not read."""

    async def receipts(self, execution: str, *, first: int = 0, most: int | None = None) -> Sequence[Receipt]:
        """Return the receipts from `first` on, in order, and at most so many."""
