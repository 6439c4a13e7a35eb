"""Tickets in Firestore, as a tool function claims and settles them: one batch read and two writes for a call.

Each write holds where the ticket is as it was read, or as it was claimed: no transaction is begun, and nothing is locked.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from ferryman.domain.approvals.approval import Approval
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
from ferryman.gcp import documents
from ferryman.gcp.approvals import create_approval, read_approval, withdraw_stored
from ferryman.gcp.credentials import VERSIONS, read_versions
from ferryman.gcp.documents import StoredDocument
from ferryman.gcp.execution_documents import ADMITTED, read_execution
from ferryman.gcp.firestore import FirestoreClient
from ferryman.gcp.halts import list_switches, read_halt_reason
from ferryman.gcp.retention import EXPIRE_AT
from ferryman.gcp.store import FirestoreStore, Reference, Transaction, in_transaction, read_together
from ferryman.gcp.user_documents import get_version, locate_all, write_all
from ferryman.gcp.wire import MaskedDocument, get_wire
from ferryman.ports.errors import UnavailableError
from ferryman.ports.local_functions import build_user_id
from ferryman.ports.tickets import TAKEN_OVER, CallRequest, ClaimedCall, TaskState, claim_call

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncClient


CLAIM = "claim"
"""The field of a ticket's document that names its latest claim, so that one whose answer was lost is known for one's own."""

TICKET_FIELDS = (*documents.name_fields(Ticket), CLAIM, EXPIRE_AT)
EXECUTION_FIELDS = (
    *("id", "task", "owner", "workspace", "agent", "person", "conversation", "created_at"),
    *("status", "lease", "policy", "cancel_requested", "coverage"),
    ADMITTED,
)
"""What a claim and a scan read of the execution: not the results of its earlier calls."""
TASK_FIELDS = ("name", "enabled", VERSIONS)
SWITCH_FIELDS = ("on", "at")
CLAIM_READ = tuple(dict.fromkeys((*TICKET_FIELDS, *EXECUTION_FIELDS, *TASK_FIELDS, *SWITCH_FIELDS)))

CLAIM_ATTEMPTS_MAX = 5
"""How often a claim is begun again, when another one wrote the ticket between its read and its write."""


@dataclass(frozen=True, slots=True)
class _Mark:
    """Of a claim: when the ticket's document was last written, and when it expires."""

    written_at: Any
    expire_at: datetime | None


class FirestoreTickets(FirestoreStore):
    """`ports.Tickets`."""

    def __init__(self, clients: FirestoreClient, *, request_s: float = REQUEST_SECONDS) -> None:
        super().__init__(clients)
        self._under_way = timedelta(seconds=request_s) + SETTLING_TIME

    async def claim(self, call_request: CallRequest, *, tool: str, now: datetime) -> ClaimedCall:
        """Read everything at once, and write the ticket if it is still as it was read.

        A next holder of the lease writes the ticket (its epoch), so does another claim: the write fails then. A cancel or a
        kill switch that comes after the read is one that comes after the claim.
        """
        from google.api_core.exceptions import Aborted, FailedPrecondition, NotFound

        wire, ticket_at = get_wire(self._client), self._places.locate_call(call_request.execution, call_request.seq)
        name, claimed_call = secrets.token_hex(8), None
        for _ in range(CLAIM_ATTEMPTS_MAX):
            read = await self._read(call_request, ticket_at)
            stored = read[ticket_at.path]
            ticket = documents.read_or_none(Ticket, stored)
            if claimed_call is not None and (stored.fields or {}).get(CLAIM) == name and _is_still(ticket, claimed_call.ticket):
                # it was stored, and the answer was lost
                return replace(claimed_call, mark=_Mark(stored.update_time, _read_expiry(stored)))
            claimed_call = self._claim_read(call_request, read, ticket, tool=tool, now=now)
            if claimed_call.ticket is ticket:
                return claimed_call
            change = documents.write_fields(claimed_call.ticket, *lease.CLAIM_FIELDS)
            try:
                written = await wire.commit(ticket_at, {**change, CLAIM: name}, since=stored.update_time)
            except (Aborted, FailedPrecondition, NotFound):
                continue
            return replace(claimed_call, mark=_Mark(written, _read_expiry(stored)))
        raise UnavailableError("other deliveries claim the call at the same time")

    async def _read(self, call_request: CallRequest, ticket_at: Reference) -> Mapping[str, MaskedDocument]:
        places = self._places
        task_at = places.locate_task(call_request.task)
        references = [places.locate_execution(call_request.execution), ticket_at, task_at]
        references += list_switches(places, call_request.owner)
        return await _read_ours(self._client, references, CLAIM_READ)

    def _claim_read(
        self,
        call_request: CallRequest,
        read: Mapping[str, MaskedDocument],
        ticket: Ticket | None,
        *,
        tool: str,
        now: datetime,
    ) -> ClaimedCall:
        """Return the call as it is claimed by what was read. Raise `StaleError`."""
        places = self._places
        current = _check_lease(read[places.locate_execution(call_request.execution).path], call_request.epoch, now)
        return claim_call(
            call_request,
            current,
            ticket,
            tool=tool,
            task=_read_task(read[places.locate_task(call_request.task).path].to_dict()),
            halt_reason=read_halt_reason(read, places, call_request.owner, current.created_at),
            now=now,
            under_way=self._under_way,
        )

    async def settle(self, claimed_call: ClaimedCall, result: ToolCallResult, *, now: datetime, in_doubt: bool = False) -> None:
        await self._store_result(claimed_call, lease.settle_ticket(claimed_call.ticket, result, now=now, in_doubt=in_doubt))

    async def answer(self, claimed_call: ClaimedCall, result: ToolCallResult, overflow: Overflow) -> None:
        call_request, mark = claimed_call.call_request, claimed_call.mark
        overflow_at = self._places.locate_overflow(call_request.execution, call_request.seq)
        expiry = {} if mark is None or mark.expire_at is None else {EXPIRE_AT: mark.expire_at}
        created = [(overflow_at, {**documents.write(overflow), **expiry})]
        await self._store_result(claimed_call, lease.answer_ticket(claimed_call.ticket, result), created)

    async def _store_result(
        self, claimed_call: ClaimedCall, after: Ticket, created: Sequence[tuple[Reference, Mapping[str, Any]]] = ()
    ) -> None:
        """Store the result of a ticket, and what is `created` with it."""
        from google.api_core.exceptions import AlreadyExists, FailedPrecondition

        change = documents.write_fields(after, *lease.RESULT_FIELDS)
        if claimed_call.mark is not None:
            ticket_at, since = self._locate_ticket(claimed_call), claimed_call.mark.written_at
            try:
                # nobody wrote the ticket since it was claimed: then nothing need be read
                await get_wire(self._client).commit(ticket_at, change, created, since=since)
            except (AlreadyExists, FailedPrecondition):
                pass
            else:
                return
        await self._update_attempt(claimed_call, change, created)

    @in_transaction
    async def settle_changes(
        self,
        transaction: Transaction,
        claimed_call: ClaimedCall,
        result: ToolCallResult,
        changes: UserChanges,
        *,
        context: ExecutionContext,
        now: datetime,
    ) -> bool:
        ticket_at = self._locate_ticket(claimed_call)
        located = locate_all(self._places, build_user_id(context), changes)
        read = await read_together(self._client, [ticket_at, *(located[path] for path in changes.reads)], transaction)
        ticket = documents.read(Ticket, read[ticket_at.path].to_dict())
        if not _is_still(ticket, claimed_call.ticket):
            return True  # a later attempt has taken over, or it was stored and the answer was lost
        if any(get_version(read[located[path].path]) != version for path, version in changes.reads.items()):
            return False
        settled = lease.settle_ticket(claimed_call.ticket, result, now=now, in_doubt=False)
        transaction.update(ticket_at, documents.write_fields(settled, *lease.RESULT_FIELDS))
        write_all(transaction, located, changes, workspace=context.workspace)
        return True

    @in_transaction
    async def settle_write(
        self,
        transaction: Transaction,
        claimed_call: ClaimedCall,
        result: ToolCallResult,
        write: ClosedWrite,
        *,
        workspace: str,
        now: datetime,
    ) -> None:
        ticket_at, quota_at = self._locate_ticket(claimed_call), self._places.locate_file_quota(workspace)
        read = await read_together(self._client, [ticket_at, quota_at], transaction)
        ticket = documents.read(Ticket, read[ticket_at.path].to_dict())
        if not _is_still(ticket, claimed_call.ticket):
            return  # a later attempt has taken over, or it was stored and the answer was lost
        settled = lease.settle_ticket(claimed_call.ticket, result, now=now, in_doubt=False)
        transaction.update(ticket_at, documents.write_fields(settled, *lease.RESULT_FIELDS))
        before = documents.read_or_none(FileQuota, read[quota_at.path]) or FileQuota(id=workspace)
        after = close_write(before, write.name, write.writes)
        if after is not before:
            transaction.set(quota_at, documents.write(after))

    @in_transaction
    async def ask(
        self,
        transaction: Transaction,
        claimed_call: ClaimedCall,
        approval: Approval,
        *,
        now: datetime,
        continuation: bytes = b"",
    ) -> Ticket:
        call_request, mark = claimed_call.call_request, claimed_call.mark
        ticket_at, approval_at = self._locate_ticket(claimed_call), self._places.locate_approval(approval.id)
        execution_at = self._places.locate_execution(call_request.execution)
        read = await read_together(self._client, [ticket_at, approval_at, execution_at], transaction)
        _check_lease(read[execution_at.path], call_request.epoch, now)
        ticket = documents.read(Ticket, read[ticket_at.path].to_dict())
        if (ticket.state, ticket.attempt, ticket.approval) == (TicketState.WAITING, claimed_call.ticket.attempt, approval.id):
            return ticket  # it was stored, and the answer was lost
        if not _is_still(ticket, claimed_call.ticket):
            raise StaleError(TAKEN_OVER)
        if ticket.approval not in ("", approval.id):
            before_at = self._places.locate_approval(ticket.approval)
            before = read_approval(await before_at.get(transaction=transaction))
            if before is not None:
                withdraw_stored(transaction, before_at, before)
        if not read[approval_at.path].exists:
            expiry = {} if mark is None or mark.expire_at is None else {EXPIRE_AT: mark.expire_at}
            create_approval(transaction, self._places, approval, expiry)
        waiting = lease.wait_ticket(ticket, approval, continuation)
        transaction.update(ticket_at, documents.write_fields(waiting, *lease.WAIT_FIELDS))
        return waiting

    async def postpone(self, claimed_call: ClaimedCall, continuation: bytes, *, until: datetime) -> Ticket:
        postponed = lease.postpone_ticket(claimed_call.ticket, continuation, until=until)
        await self._update_attempt(claimed_call, documents.write_fields(postponed, *lease.POSTPONE_FIELDS))
        return postponed

    async def note_progress(self, claimed_call: ClaimedCall, progress: CallProgress) -> ClaimedCall:
        """Write the one field, where nobody has written the ticket since it was claimed, or since the last report."""
        from google.api_core.exceptions import FailedPrecondition, NotFound

        mark, noted = claimed_call.mark, replace(claimed_call.ticket, progress=progress)
        if mark is None:
            raise StaleError(TAKEN_OVER)
        change = documents.write_fields(noted, "progress")
        try:
            written = await get_wire(self._client).commit(self._locate_ticket(claimed_call), change, since=mark.written_at)
        except (FailedPrecondition, NotFound):
            raise StaleError(TAKEN_OVER) from None
        return replace(claimed_call, mark=replace(mark, written_at=written))

    async def release(self, claimed_call: ClaimedCall) -> None:
        released = lease.release_ticket(claimed_call.ticket)
        await self._update_attempt(claimed_call, documents.write_fields(released, *lease.RELEASE_FIELDS))

    @in_transaction
    async def _update_attempt(
        self,
        transaction: Transaction,
        claimed_call: ClaimedCall,
        change: Mapping[str, Any],
        created: Sequence[tuple[Reference, Mapping[str, Any]]] = (),
    ) -> None:
        """Write `change` and what is `created` with it, unless a later attempt has taken over: what this one learned then
        changes nothing."""
        ticket_at = self._locate_ticket(claimed_call)
        ticket = documents.read(Ticket, (await ticket_at.get(transaction=transaction)).to_dict())
        if _is_still(ticket, claimed_call.ticket):
            transaction.update(ticket_at, dict(change))
            for reference, document in created:
                transaction.create(reference, dict(document))

    @in_transaction
    async def cover(
        self, transaction: Transaction, claimed_call: ClaimedCall, before: bytes, after: bytes, *, now: datetime
    ) -> bytes:
        execution_at = self._places.locate_execution(claimed_call.call_request.execution)
        snapshot = await execution_at.get(transaction=transaction)
        stored = _check_lease(snapshot, claimed_call.call_request.epoch, now).coverage
        if stored != before:
            return stored
        transaction.update(execution_at, {"coverage": after})
        return after

    async def scope(self, execution: str, *, task: str, epoch: int, now: datetime) -> tuple[Execution, Mapping[str, int]]:
        execution_at, task_at = self._places.locate_execution(execution), self._places.locate_task(task)
        read = await _read_ours(self._client, [execution_at, task_at], (*EXECUTION_FIELDS, VERSIONS))
        current = _check_lease(read[execution_at.path], epoch, now)
        if current.task != task:
            raise StaleError("there is no such execution of the task")
        return current, read_versions(read[task_at.path].to_dict())

    def _locate_ticket(self, claimed_call: ClaimedCall) -> Reference:
        return self._places.locate_call(claimed_call.call_request.execution, claimed_call.call_request.seq)


async def _read_ours(
    client: AsyncClient, references: Sequence[Reference], names: Sequence[str]
) -> Mapping[str, MaskedDocument]:
    """Return these fields of documents, by path. Raise `StaleError` where somebody else wrote one of them: there is no call
    of it then."""
    try:
        return await get_wire(client).read(references, names)
    except ValueError:
        raise StaleError("there is no such call") from None


def _is_still(ticket: Ticket | None, claimed: Ticket) -> bool:
    """Tell whether a ticket is under way as it was claimed: it has no result, and no later attempt took over."""
    return ticket is not None and (ticket.state, ticket.attempt, ticket.result) == (TicketState.SENT, claimed.attempt, None)


def _read_expiry(stored: StoredDocument) -> datetime | None:
    expire_at: datetime | None = (stored.to_dict() or {}).get(EXPIRE_AT)
    return expire_at


def _check_lease(snapshot: StoredDocument, epoch: int, now: datetime) -> Execution:
    current = read_execution(snapshot)
    if current is None:
        raise StaleError("there is no such execution")
    return lease.check_epoch(current, epoch, now)


def _read_task(document: dict[str, Any] | None) -> TaskState | None:
    if document is None:
        return None
    name, enabled = str(document.get("name", "")), bool(document.get("enabled", False))
    return TaskState(name=name, enabled=enabled, versions=read_versions(document))
