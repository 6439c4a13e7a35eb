"""The port of a call's ticket, by which a tool function claims the call (exactly-once effects), sends it and settles it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol

from ferryman.catalog.tools import find_tool
from ferryman.domain.approvals.approval import Approval
from ferryman.domain.calls.call import Ticket, TicketState, ToolCallResult, claim_ticket
from ferryman.domain.calls.progress import CallProgress
from ferryman.domain.executions.context import ExecutionContext
from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.files.kept import Overflow
from ferryman.domain.files.writes import ClosedWrite
from ferryman.domain.owners.user_changes import UserChanges
from ferryman.domain.stale import StaleError

TAKEN_OVER = "a later attempt of the call has taken over"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRequest:
    """Which call a tool function is asked to execute; everything else about the call is read from the store."""

    execution: str
    seq: int
    epoch: int
    task: str
    owner: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedCall:
    """A call that a tool function claimed: the ticket, the frozen policy, the present credential versions.

    `created` is when its execution was created; `again` tells that an earlier attempt was sent and its outcome is unknown;
    `context` is the execution's;
    `mark` is for the store alone. `coverage` is the execution's, sealed as it is stored.
    """

    call_request: CallRequest
    ticket: Ticket
    policy: ExecutionPolicy
    versions: Mapping[str, int]
    created: datetime
    context: ExecutionContext
    task_name: str = ""
    again: bool = False
    coverage: bytes = field(default=b"", repr=False)
    mark: Any = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskState:
    """What a claim reads of the task: `versions` are those that its credentials must have."""

    name: str
    enabled: bool
    versions: Mapping[str, int]


class Tickets(Protocol):
    """Tickets as a tool function sees them."""

    async def claim(self, call_request: CallRequest, *, tool: str, now: datetime) -> ClaimedCall:
        """Move the ticket from intended to sent, if it is still as it was read, at once with execution, task and kill switches.

        A ticket with a result is returned as it is, and a sent one whose deadline has passed is claimed `again`.

        Raise `StaleError` when the epoch is not the current lease's, the lease has expired, the execution was cancelled or
        stopped, or the ticket is already on its way.
        """

    async def settle(self, claimed_call: ClaimedCall, result: ToolCallResult, *, now: datetime, in_doubt: bool = False) -> None:
        """Record the result of one attempt."""

    async def answer(self, claimed_call: ClaimedCall, result: ToolCallResult, overflow: Overflow) -> None:
        """Record the result of one attempt and what is yet to be kept of it, both or nothing: the call has answered then.

        `Executions.settle_answered` settles it. The overflow expires with the ticket.
        """

    async def settle_changes(
        self,
        claimed_call: ClaimedCall,
        result: ToolCallResult,
        changes: UserChanges,
        *,
        context: ExecutionContext,
        now: datetime,
    ) -> bool:
        """Record the result of one attempt and write `changes` of the documents of the context's user: all of it, or nothing.

        Return False, with nothing stored, where a document that was read has changed since. Where a later attempt has taken
        over, or the call is settled, nothing is stored either, and True is returned.
        """

    async def settle_write(
        self, claimed_call: ClaimedCall, result: ToolCallResult, write: ClosedWrite, *, workspace: str, now: datetime
    ) -> None:
        """Record the result of one attempt, and close what it wrote of the workspace's files in its quota: both, or nothing."""

    async def ask(self, claimed_call: ClaimedCall, approval: Approval, *, now: datetime, continuation: bytes = b"") -> Ticket:
        """Store `approval` and have the call wait for it, in one commit. Return the ticket as it waits.

        Nothing of the call was sent, or what goes on of it is the sealed `continuation`, which is stored with it.

        Where the call has waited for another approval that nobody has decided about, that one is withdrawn. Where a later
        attempt has taken over, nothing is stored. Raise `StaleError` then, and where the lease has ended.
        """

    async def postpone(self, claimed_call: ClaimedCall, continuation: bytes, *, until: datetime) -> Ticket:
        """Store what goes on of a call that was sent, sealed, and when its host is asked again. Return the ticket so.

        It may be claimed again from then on. Where a later attempt has taken over, nothing is stored.
        """

    async def note_progress(self, claimed_call: ClaimedCall, progress: CallProgress) -> ClaimedCall:
        """Store what the host reports of a call under way, in the place of its last report. Return the call, for the next one.

        Raise `StaleError`, with nothing stored, where somebody else has written the ticket. Whatever ends the attempt takes the
        report away: it is no part of the record.
        """

    async def release(self, claimed_call: ClaimedCall) -> None:
        """Record that an attempt never sent anything, so that the call may be claimed again."""

    async def scope(self, execution: str, *, task: str, epoch: int, now: datetime) -> tuple[Execution, Mapping[str, int]]:
        """Return the execution of `task` whose lease has this epoch, with the versions that the task's credentials must have.

        Raise `StaleError` where there is none.
        """

    async def cover(self, claimed_call: ClaimedCall, before: bytes, after: bytes, *, now: datetime) -> bytes:
        """Store `after` as the execution's coverage, unless something other than `before` is stored; return what is then.

        Raise `StaleError` when the epoch is not the current lease's or the lease has expired.
        """


def claim_call(
    call_request: CallRequest,
    current: Execution,
    ticket: Ticket | None,
    *,
    tool: str,
    task: TaskState | None,
    halt_reason: str | None,
    now: datetime,
    under_way: timedelta,
) -> ClaimedCall:
    """Return the call as a store claims it for the function `tool`: by the same rules in every store. Raise `StaleError`."""
    if ticket is None or (current.task, current.owner) != (call_request.task, call_request.owner):
        raise StaleError("there is no such call")
    if current.policy is None:
        raise StaleError("the execution has not been opened")
    if task is None or not task.enabled:
        raise StaleError("the task was disabled or deleted")
    if find_tool(ticket.tool).function != tool:
        raise StaleError("the call belongs to another tool")
    stopped = current.cancel_requested or halt_reason is not None
    return ClaimedCall(
        call_request=call_request,
        ticket=claim_ticket(ticket, epoch=call_request.epoch, stopped=stopped, now=now, under_way=under_way),
        policy=current.policy,
        versions=task.versions,
        created=current.created_at,
        context=current.context,
        task_name=task.name,
        again=ticket.state is TicketState.SENT,
        coverage=current.coverage,
    )
