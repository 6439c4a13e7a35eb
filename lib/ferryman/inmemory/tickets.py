"""Tickets in memory, as a tool function claims and settles them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from ferryman.domain.approvals.approval import Approval, withdraw_approval
from ferryman.domain.calls.call import SETTLING_TIME, Ticket, TicketState, ToolCallResult
from ferryman.domain.calls.progress import CallProgress
from ferryman.domain.executions import lease
from ferryman.domain.executions.context import ExecutionContext
from ferryman.domain.executions.execution import Execution
from ferryman.domain.files.kept import Overflow
from ferryman.domain.files.quota import FileQuota, close_write
from ferryman.domain.files.writes import ClosedWrite
from ferryman.domain.http.request import REQUEST_SECONDS
from ferryman.domain.owners.user_changes import UserChanges
from ferryman.domain.stale import StaleError
from ferryman.inmemory.memory import MemoryStore
from ferryman.inmemory.owners import MemoryHalts
from ferryman.ports.local_functions import build_user_id
from ferryman.ports.tickets import TAKEN_OVER, CallRequest, ClaimedCall, TaskState, claim_call

DEADLINE = timedelta(seconds=REQUEST_SECONDS) + SETTLING_TIME
"""How long after its claim a call can still be under way."""


class MemoryTickets(MemoryStore):
    """`ports.Tickets`."""

    async def claim(self, call_request: CallRequest, *, tool: str, now: datetime) -> ClaimedCall:
        current = self._check_lease(call_request.execution, call_request.epoch, now)
        task = self._memory.tasks.get(current.task)
        versions = self._versions(current.task)
        claimed_call = claim_call(
            call_request,
            current,
            self._memory.tickets.get(call_request.execution, {}).get(call_request.seq),
            tool=tool,
            task=None if task is None else TaskState(name=task.name, enabled=task.enabled, versions=versions),
            halt_reason=await MemoryHalts(self._memory).find_halt_reason(current.owner, created=current.created_at),
            now=now,
            under_way=DEADLINE,
        )
        self._memory.tickets[call_request.execution][call_request.seq] = claimed_call.ticket
        return claimed_call

    async def settle(self, claimed_call: ClaimedCall, result: ToolCallResult, *, now: datetime, in_doubt: bool = False) -> None:
        ticket = self._find_attempt(claimed_call)
        if ticket is not None:
            self._store(claimed_call, lease.settle_ticket(ticket, result, now=now, in_doubt=in_doubt))

    async def answer(self, claimed_call: ClaimedCall, result: ToolCallResult, overflow: Overflow) -> None:
        ticket = self._find_attempt(claimed_call)
        if ticket is not None:
            self._memory.overflows.setdefault(claimed_call.call_request.execution, {})[ticket.seq] = overflow
            self._store(claimed_call, lease.answer_ticket(ticket, result))

    async def settle_changes(
        self,
        claimed_call: ClaimedCall,
        result: ToolCallResult,
        changes: UserChanges,
        *,
        context: ExecutionContext,
        now: datetime,
    ) -> bool:
        ticket = self._find_attempt(claimed_call)
        if ticket is None:
            return True
        user, stored = build_user_id(context), self._memory.user_documents
        if any(stored.get((user, path), (None, ""))[1] != version for path, version in changes.reads.items()):
            return False
        for path, document in changes.writes.items():
            self._memory.user_workspaces[user] = context.workspace
            stored[user, path] = (document, "" if document is None else str(next(self._memory.user_versions)))
        self._store(claimed_call, lease.settle_ticket(ticket, result, now=now, in_doubt=False))
        return True

    async def settle_write(
        self, claimed_call: ClaimedCall, result: ToolCallResult, write: ClosedWrite, *, workspace: str, now: datetime
    ) -> None:
        ticket = self._find_attempt(claimed_call)
        if ticket is None:
            return
        quotas = self._memory.file_quotas
        quotas[workspace] = close_write(quotas.get(workspace, FileQuota(id=workspace)), write.name, write.writes)
        self._store(claimed_call, lease.settle_ticket(ticket, result, now=now, in_doubt=False))

    async def ask(self, claimed_call: ClaimedCall, approval: Approval, *, now: datetime, continuation: bytes = b"") -> Ticket:
        call_request, approvals = claimed_call.call_request, self._memory.approvals
        self._check_lease(call_request.execution, call_request.epoch, now)
        stored = self._memory.tickets[call_request.execution][call_request.seq]
        if (stored.state, stored.attempt, stored.approval) == (TicketState.WAITING, claimed_call.ticket.attempt, approval.id):
            return stored
        ticket = self._find_attempt(claimed_call)
        if ticket is None:
            raise StaleError(TAKEN_OVER)
        before = approvals.get(ticket.approval)
        if before is not None and before.id != approval.id:
            approvals[before.id] = withdraw_approval(before)
        approvals.setdefault(approval.id, approval)
        waiting = lease.wait_ticket(ticket, approval, continuation)
        self._store(claimed_call, waiting)
        return waiting

    async def postpone(self, claimed_call: ClaimedCall, continuation: bytes, *, until: datetime) -> Ticket:
        postponed = lease.postpone_ticket(claimed_call.ticket, continuation, until=until)
        if self._find_attempt(claimed_call) is not None:
            self._store(claimed_call, postponed)
        return postponed

    async def note_progress(self, claimed_call: ClaimedCall, progress: CallProgress) -> ClaimedCall:
        if self._find_attempt(claimed_call) is None:
            raise StaleError(TAKEN_OVER)
        stored = self._memory.tickets[claimed_call.call_request.execution][claimed_call.call_request.seq]
        self._store(claimed_call, replace(stored, progress=progress))
        return claimed_call

    async def release(self, claimed_call: ClaimedCall) -> None:
        ticket = self._find_attempt(claimed_call)
        if ticket is not None:
            self._store(claimed_call, lease.release_ticket(ticket))

    async def cover(self, claimed_call: ClaimedCall, before: bytes, after: bytes, *, now: datetime) -> bytes:
        current = self._check_lease(claimed_call.call_request.execution, claimed_call.call_request.epoch, now)
        if current.coverage != before:
            return current.coverage
        self._memory.executions[current.id] = replace(current, coverage=after)
        return after

    async def scope(self, execution: str, *, task: str, epoch: int, now: datetime) -> tuple[Execution, Mapping[str, int]]:
        current = self._check_lease(execution, epoch, now)
        if current.task != task:
            raise StaleError("there is no such execution of the task")
        return current, self._versions(current.task)

    def _find_attempt(self, claimed_call: ClaimedCall) -> Ticket | None:
        """Return the ticket as it is stored, with who approved this attempt, or None where it has a result or a later attempt
        has taken over: this one changes nothing then."""
        ticket = self._memory.tickets[claimed_call.call_request.execution][claimed_call.call_request.seq]
        is_current = (ticket.attempt, ticket.state) == (claimed_call.ticket.attempt, TicketState.SENT)
        claimed = claimed_call.ticket
        is_open = is_current and ticket.result is None
        return replace(ticket, approved=claimed.approved, unanswered=claimed.unanswered) if is_open else None

    def _store(self, claimed_call: ClaimedCall, ticket: Ticket) -> None:
        self._memory.tickets[claimed_call.call_request.execution][ticket.seq] = ticket

    def _versions(self, task: str) -> Mapping[str, int]:
        return dict(self._memory.versions.get(task, {}))

    def _check_lease(self, execution: str, epoch: int, now: datetime) -> Execution:
        current = self._memory.executions.get(execution)
        if current is None:
            raise StaleError("there is no such execution")
        return lease.check_epoch(current, epoch, now)
